import './outline.css';
import { ActionIcon, Box, Card, Group, Menu, Stack, Text, ThemeIcon, UnstyledButton } from '@mantine/core';
import {
  IconArrowRight,
  IconArrowsSplit2,
  IconBell,
  IconBolt,
  IconCalendarTime,
  IconClipboard,
  IconCopy,
  IconDots,
  IconForms,
  IconGitBranch,
  IconHourglass,
  IconLogout,
  IconMail,
  IconPencil,
  IconPlus,
  IconTrash,
  IconUserMinus,
  IconUserPlus,
  IconWebhook,
} from '@tabler/icons-react';
import type { KeyboardEvent } from 'react';
import { flushSync } from 'react-dom';
import { TextLink } from '../../components/link.tsx';
import { countOf } from '../campaigns/campaign-labels.ts';
import {
  type Definition,
  exitsOf,
  type Line,
  outlineOf,
  type OutlineStep,
  type Place,
  type Step,
  STEP_TYPES,
  type StepType,
} from './definition.ts';
import { type Names, stepSummary, stepTitle } from './summaries.ts';

const ICONS: Record<StepType, typeof IconMail> = {
  send: IconMail,
  wait: IconHourglass,
  wait_until: IconCalendarTime,
  wait_for_event: IconBolt,
  condition: IconGitBranch,
  split: IconArrowsSplit2,
  update_field: IconForms,
  join_group: IconUserPlus,
  leave_group: IconUserMinus,
  notify: IconBell,
  webhook: IconWebhook,
  exit: IconLogout,
};

export interface OutlineProps {
  definition: Definition;
  names: Names;
  /** What keeps steps from being published, by step. */
  problems: ReadonlyMap<string, readonly string[]>;
  /** How many contacts are at each step now. */
  counts: ReadonlyMap<string, number>;
  readOnly: boolean;
  /** The step that was copied last. */
  copied: Step | undefined;
  onCopy: (step: Step) => void;
  onAdd: (place: Place, added: StepType | Step) => void;
  onEdit: (step: Step) => void;
  onRemove: (step: Step) => void;
}

/** The steps of a journey from top to bottom, with branches indented. */
export function Outline(props: OutlineProps) {
  const { line, apart } = outlineOf(props.definition);
  return (
    <Stack gap={0} role="group" aria-label="Steps" data-steps>
      <AddStep place="start" after="the entry" {...props} />
      <Steps line={line} {...props} />
      {apart.length > 0 && (
        <Stack gap="xs" mt="lg">
          <Text size="sm" fw={550}>
            Steps that nothing leads to
          </Text>
          {apart.map((step) => (
            <StepCard key={step.id} step={step} {...props} />
          ))}
        </Stack>
      )}
    </Stack>
  );
}

function Steps({ line: { steps, end }, ...props }: OutlineProps & { line: Line }) {
  return (
    <>
      {steps.map(({ step, branches }, index) => {
        const next = steps[index + 1]?.step;
        return (
          <Box key={step.id}>
            <StepCard step={step} {...props} />
            {branches.length > 0 && <Branches step={step} branches={branches} {...props} />}
            {next !== undefined && <AddStep place={{ stepId: step.id, key: 'next' }} after={step.id} {...props} />}
          </Box>
        );
      })}
      {end.kind !== 'closed' && steps.length > 0 && (
        <AddStep place={end.place} after={steps.at(-1)?.step.id ?? ''} {...props} />
      )}
      {end.kind === 'jump' && <Ending>Continues with {end.to}</Ending>}
      {end.kind === 'end' && <Ending>End</Ending>}
    </>
  );
}

function Branches({ step, branches, ...props }: OutlineProps & { step: Step; branches: OutlineStep['branches'] }) {
  return (
    <Stack gap="sm" mt="sm">
      {branches.map(({ exit, line }) => (
        <Box key={exit.key} className="journey-branch" role="group" aria-label={`${step.id}: ${exit.label}`}>
          <Text size="sm" fw={600}>
            {exit.label}
          </Text>
          <AddStep place={{ stepId: step.id, key: exit.key }} after={`${step.id}: ${exit.label}`} {...props} />
          <Steps line={line} {...props} />
        </Box>
      ))}
    </Stack>
  );
}

function Ending({ children }: { children: React.ReactNode }) {
  return (
    <Group gap={6} c="dimmed">
      <IconArrowRight size={14} aria-hidden />
      <Text size="sm">{children}</Text>
    </Group>
  );
}

/** The place after a step, on its first branch if it has several. */
function placeAfter(step: Step): Place | undefined {
  const [first] = exitsOf(step);
  return first && { stepId: step.id, key: first.key };
}

const edgeId = (place: Place): string => (place === 'start' ? 'first-edge' : `edge-${place.stepId}-${place.key}`);

/** What the keys do while a step has the focus. */
function pressKey(event: KeyboardEvent<HTMLElement>, step: Step, { copied, onCopy, onAdd, onRemove }: OutlineProps) {
  const card = event.currentTarget;
  // Keys pressed in the step's menu, which is elsewhere in the document, arrive here too.
  if (!(event.target instanceof Node) || !card.contains(event.target)) return;
  const cards = [...(card.closest('[data-steps]')?.querySelectorAll<HTMLElement>('[data-step]') ?? [])];
  const index = cards.indexOf(card);
  const focus = (other: HTMLElement | null | undefined) => other?.querySelector('button')?.focus();
  const remove = () => {
    const others = [cards[index + 1], cards[index - 1]].flatMap((other) => (other === undefined ? [] : [other.id]));
    flushSync(() => onRemove(step));
    focus(others.map((id) => document.getElementById(id)).find((other) => other !== null));
  };
  const place = placeAfter(step);
  const hasSelection = window.getSelection()?.isCollapsed === false;
  const plain: Record<string, (() => void) | undefined> = {
    arrowdown: () => focus(cards[index + 1]),
    arrowup: () => focus(cards[index - 1]),
    delete: remove,
    a: place && (() => document.getElementById(edgeId(place))?.querySelector('button')?.click()),
  };
  const withControl: Record<string, (() => void) | undefined> = {
    c: hasSelection ? undefined : () => onCopy(step),
    v: copied && place && (() => onAdd(place, copied)),
  };
  const action = (event.ctrlKey || event.metaKey ? withControl : plain)[event.key.toLowerCase()];
  if (action === undefined || event.altKey || event.shiftKey) return;
  event.preventDefault();
  action();
}

function StepCard({ step, ...props }: OutlineProps & { step: Step }) {
  const { names, problems, counts, readOnly, onEdit } = props;
  const Icon = ICONS[step.type];
  const title = stepTitle(step, names);
  const summary = stepSummary(step, names);
  const here = counts.get(step.id) ?? 0;
  const found = problems.get(step.id) ?? [];
  return (
    <Card
      p="sm"
      id={`step-${step.id}`}
      data-step
      className={found.length > 0 ? 'journey-problem' : ''}
      maw={640}
      onKeyDown={readOnly ? undefined : (event) => pressKey(event, step, props)}
    >
      <Group wrap="nowrap" gap="sm" align="flex-start">
        <ThemeIcon variant="light" color="gray" size={32}>
          <Icon size={18} aria-hidden />
        </ThemeIcon>
        <Box flex={1} miw={0}>
          {readOnly || step.type === 'exit' ? (
            <Text size="sm" fw={550} className="breakable">
              {title}
            </Text>
          ) : (
            <UnstyledButton onClick={() => onEdit(step)} aria-label={`Edit ${step.id}: ${title}`}>
              <Text size="sm" fw={550} className="breakable">
                {title}
              </Text>
            </UnstyledButton>
          )}
          <Text size="sm" c="dimmed" className="breakable">
            {[step.id, summary].filter((part) => part !== '').join(' · ')}
          </Text>
          {here > 0 && (
            <TextLink to="." search={{ step: step.id } as never} hash="people" size="sm">
              {countOf(here, 'contact')} here
            </TextLink>
          )}
          {found.map((problem) => (
            <Text key={problem} size="sm" c="var(--mantine-color-error)" role="alert">
              {problem}
            </Text>
          ))}
        </Box>
        {!readOnly && <StepMenu step={step} title={title} {...props} />}
      </Group>
    </Card>
  );
}

function StepMenu({ step, title, onEdit, onCopy, onRemove }: OutlineProps & { step: Step; title: string }) {
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={`Actions for ${step.id}: ${title}`}>
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {step.type !== 'exit' && (
          <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => onEdit(step)}>
            Edit
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={() => onCopy(step)}>
          Copy
        </Menu.Item>
        <Menu.Item
          color="var(--mantine-color-error)"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() => onRemove(step)}
        >
          Remove
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function AddStep({ place, after, names, readOnly, copied, onAdd }: OutlineProps & { place: Place; after: string }) {
  if (readOnly) return <div className="journey-edge" aria-hidden />;
  return (
    <Group id={edgeId(place)} className="journey-edge" gap={0}>
      <Menu position="right-start">
        <Menu.Target>
          <ActionIcon size="sm" variant="default" radius="xl" aria-label={`Add a step after ${after}`}>
            <IconPlus size={14} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {copied !== undefined && (
            <Menu.Item leftSection={<IconClipboard size={16} aria-hidden />} onClick={() => onAdd(place, copied)}>
              Paste {stepTitle(copied, names)}
            </Menu.Item>
          )}
          {Object.entries(STEP_TYPES).map(([type, label]) => {
            const Icon = ICONS[type as StepType];
            return (
              <Menu.Item
                key={type}
                leftSection={<Icon size={16} aria-hidden />}
                onClick={() => onAdd(place, type as StepType)}
              >
                {label}
              </Menu.Item>
            );
          })}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
