import '@mantine/core/styles/Divider.css';
import { ActionIcon, Alert, Divider, Menu, Stack, Text, TextInput } from '@mantine/core';
import { IconAlertTriangle, IconCopy, IconCopyPlus, IconDots, IconPencil, IconTrash } from '@tabler/icons-react';
import { type Ref, useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { FormButtons } from '../../components/form.tsx';
import type { Choices } from './choices.ts';
import type { Counts } from './counts.ts';
import { connect, removeStep, renameProblem, replaceStep, stepsFrom } from './definition.ts';
import type { Definition, Step } from './definition-types.ts';
import { Panel, type PanelHandle } from './panel.tsx';
import { EntryForm, RulesForm } from './rules-form.tsx';
import { StepForm } from './step-form.tsx';
import { StepPeople } from './step-people.tsx';
import { stepSummary, stepTitle, stepTypeOf } from './step-types.ts';
import { describeRules, entrySummary } from './summaries.ts';
import { ENTRY } from './graph.ts';

/** The panel of the rules: it has no node. */
export const RULES = ':rules';

/** What the panel may do. */
export interface PanelEdit {
  /** Changes with the same `of`, one after the other, are undone together. */
  apply: (definition: Definition, of?: string) => void;
  /** Steps are to be copied. */
  copied: (steps: readonly Step[]) => void;
  /** The step that is selected gets another id. */
  rename: (id: string) => void;
  setIncomplete: (isIncomplete: boolean) => void;
  /** Changes when the fields must read the definition again. */
  revision: number;
}

interface PanelProps {
  /** The id of a step, `ENTRY` or `RULES`. */
  selected: string;
  definition: Definition;
  choices: Choices;
  /** Undefined if the journey was never published. */
  counts: Counts | undefined;
  journeyId: string;
  isActive: boolean;
  problems?: ReadonlyMap<string, readonly string[]>;
  /** Omitted if it may not be changed. */
  edit?: PanelEdit | undefined;
  onClose: () => void;
  ref?: Ref<PanelHandle>;
}

/** What is known of the step, the entry or the rules that are selected; with fields, if it may be changed. */
export function SelectionPanel({ selected, definition, choices, edit, onClose, ref, ...props }: PanelProps) {
  const { names } = choices;
  if (selected === ENTRY || selected === RULES) {
    const isEntry = selected === ENTRY;
    const fields = edit && {
      key: `${selected} ${edit.revision}`,
      definition,
      choices,
      onChange: (next: Definition) => edit.apply(next, selected),
    };
    return (
      <Panel title={isEntry ? 'Entry' : 'Rules'} onClose={onClose} ref={ref ?? null}>
        {edit === undefined || fields === undefined ? (
          <Sentences of={isEntry ? [`${entrySummary(definition.entry, names)}.`] : describeRules(definition, names)} />
        ) : isEntry ? (
          <EntryForm {...fields} setIncomplete={edit.setIncomplete} />
        ) : (
          <RulesForm {...fields} />
        )}
      </Panel>
    );
  }
  const step = definition.steps.find(({ id }) => id === selected);
  if (step === undefined) return null;
  return (
    <StepPanel
      {...props}
      step={step}
      definition={definition}
      choices={choices}
      edit={edit}
      onClose={onClose}
      panelRef={ref}
    />
  );
}

function Sentences({ of }: { of: readonly string[] }) {
  return of.map((sentence) => (
    <Text key={sentence} size="sm">
      {sentence}
    </Text>
  ));
}

function StepPanel({
  step,
  definition,
  choices,
  counts,
  journeyId,
  isActive,
  problems,
  edit,
  onClose,
  panelRef,
}: Omit<PanelProps, 'selected' | 'ref'> & { step: Step; panelRef: Ref<PanelHandle> | undefined }) {
  const { id } = step;
  const found = problems?.get(id) ?? [];
  const summary = stepSummary(step, choices.names);
  return (
    <Panel
      title={`${stepTypeOf(step).label}: ${id}`}
      onClose={onClose}
      ref={panelRef ?? null}
      actions={edit && <StepMenu step={step} definition={definition} counts={counts} edit={edit} onClose={onClose} />}
    >
      <Stack gap="sm">
        {found.length > 0 && (
          <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="Required before publishing" p="xs">
            <Sentences of={found} />
          </Alert>
        )}
        {counts && (
          <>
            <StepPeople key={id} journeyId={journeyId} stepId={id} counts={counts} isActive={isActive} />
            <Divider />
          </>
        )}
        {edit === undefined ? (
          <Sentences of={[stepTitle(step, choices.names), summary].filter((part) => part !== '')} />
        ) : (
          <StepForm
            key={`${id} ${edit.revision}`}
            step={step}
            definition={definition}
            choices={choices}
            setIncomplete={edit.setIncomplete}
            onChange={(next) => edit.apply(replaceStep(definition, next), id)}
            onLead={(key, to) => edit.apply(connect(definition, { stepId: id, key }, to))}
          />
        )}
      </Stack>
    </Panel>
  );
}

function StepMenu({
  step,
  definition,
  counts,
  edit,
  onClose,
}: Pick<PanelProps, 'definition' | 'counts' | 'onClose'> & { step: Step; edit: PanelEdit }) {
  const [isRenaming, setRenaming] = useState(false);
  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon aria-label={`Actions for ${step.id}`}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setRenaming(true)}>
            Change ID
          </Menu.Item>
          <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={() => edit.copied([step])}>
            Copy
          </Menu.Item>
          <Menu.Item
            leftSection={<IconCopyPlus size={16} aria-hidden />}
            onClick={() => edit.copied(stepsFrom(definition, step.id))}
          >
            Copy with following steps
          </Menu.Item>
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => {
              edit.apply(removeStep(definition, step.id));
              onClose();
            }}
          >
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={isRenaming} onClose={() => setRenaming(false)} title={`Change the ID of ${step.id}`}>
        <RenameForm
          step={step}
          definition={definition}
          isPublished={counts !== undefined}
          onRename={edit.rename}
          onClose={() => setRenaming(false)}
        />
      </Dialog>
    </>
  );
}

function RenameForm({
  step: { id, type },
  definition,
  isPublished,
  onRename,
  onClose,
}: {
  step: Step;
  definition: Definition;
  isPublished: boolean;
  onRename: (id: string) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState(id);
  useUnsavedChanges(text !== id);
  const problem = renameProblem(definition, id, text);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (problem !== undefined) return;
        onClose();
        if (text !== id) onRename(text);
      }}
    >
      <Stack>
        <TextInput
          label="Step ID"
          data-autofocus
          value={text}
          error={problem}
          onChange={(event) => setText(event.currentTarget.value.trim())}
        />
        <Text size="sm" c="dimmed">
          Connections to the step and conditions that refer to it are updated.
          {type === 'webhook' && ` Templates that use {{steps.${id}}} are not: edit them yourself.`}
          {isPublished &&
            ' If this step has been published, contacts at it can’t move to the next version; they finish on theirs.'}
        </Text>
        <FormButtons submit="Change" disabled={problem !== undefined} running={false} onCancel={onClose} />
      </Stack>
    </form>
  );
}
