import { ActionIcon, Alert, Button, Card, Group, Menu, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import {
  IconAlertTriangle,
  IconArchive,
  IconArrowBackUp,
  IconArrowForwardUp,
  IconDots,
  IconDownload,
  IconPencil,
  IconUpload,
} from '@tabler/icons-react';
import { useBlocker, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import { useMay, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { usePolling } from '../../data/polling.ts';
import { useVersionedForm } from '../../data/versioned-form.ts';
import { graphql } from '../../generated/gql.ts';
import type { JourneyQuery } from '../../generated/graphql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { ConflictAlert } from '../../components/conflict-alert.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { FormProblem } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { LinesSkeleton, QueryResult } from '../../components/states.tsx';
import { Stat, Stats } from '../../components/stats.tsx';
import { When } from '../../components/when.tsx';
import { WorkflowLink } from '../../components/workflow-link.tsx';
import { BacktestButton } from './backtest-dialog.tsx';
import { type Choices, useChoices } from './choices.ts';
import { type Definition, insertStep, readDefinition, removeStep, replaceStep, type Step } from './definition.ts';
import { ImportDialog } from './import.tsx';
import { JOURNEY_STATUS, problemInWords } from './labels.ts';
import { Outline } from './outline.tsx';
import { PauseOrResume } from './pause.tsx';
import { People } from './people.tsx';
import { ProblemsAlert, Publish } from './publish.tsx';
import { EntryDialog, RulesDialog } from './rules-form.tsx';
import { StepDialog } from './step-form.tsx';
import { entrySummary, rulesInWords } from './summaries.ts';

const JOURNEY = graphql(`
  query Journey($id: ID!) {
    journey(id: $id) {
      id
      name
      status
      definition
      version
      publishedVersion
      publishedDefinition
      publishedAt
      pausedReason
      waitingEvents
      updatedAt
      editedById
      editedByName
      workflowUrl
      problems {
        field
        message
        stepId
      }
      inProgress {
        version
        stepId
        contactCount
        dueWithinDay
        hasMatch
      }
      runs {
        active
        paused
        completed
        exited
        reachedGoal
      }
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateJourney($id: ID!, $input: UpdateJourneyInput!) {
    updateJourney(id: $id, input: $input) {
      id
      version
    }
  }
`);

const ARCHIVE = graphql(`
  mutation ArchiveJourney($id: ID!) {
    archiveJourney(id: $id) {
      id
    }
  }
`);

type Row = JourneyQuery['journey'];

/** A journey: its figures, its steps, and the contacts in it. */
export function Journey() {
  const { journeyId } = useParams({ from: '/auth/p/$projectId/journeys/$journeyId' });
  const { id: projectId } = useProject();
  const journey = useApiQuery(JOURNEY, { id: journeyId });
  const choices = useChoices();
  const row = journey.data?.journey;
  usePolling(journey.again, row?.status === 'active');
  const back = (
    <TextLink to="/p/$projectId/journeys" params={{ projectId }} size="sm">
      <BackLabel>Journeys</BackLabel>
    </TextLink>
  );
  if (row !== undefined && choices !== undefined)
    return <Editor key={row.id} journey={row} choices={choices} back={back} />;
  return (
    <Page title={row?.name ?? 'Journey'} back={back}>
      <QueryResult of={journey}>{() => <LinesSkeleton />}</QueryResult>
    </Page>
  );
}

const FIELD_WORDS = { name: 'name', definition: 'steps and rules' };

type Dialog = 'entry' | 'rules' | 'import' | 'archive' | { step: Step };

function Editor({ journey, choices, back }: { journey: Row; choices: Choices; back: ReactNode }) {
  const { id, status, problems, inProgress } = journey;
  const search = useSearch({ from: '/auth/p/$projectId/journeys/$journeyId' });
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const update = useApiMutation(UPDATE);
  const mayWrite = useMay()('write');
  const edited = useVersionedForm({
    content: { name: journey.name, definition: readDefinition(journey.definition) },
    version: journey.version,
  });
  const { content, conflict, isSaved } = edited;
  const { name, definition } = content;
  const readOnly = !mayWrite || status === 'archived' || conflict?.seesTheirs === true;
  const history = useHistory(definition, (next) => edited.set({ definition: next }), !readOnly && dialog === undefined);
  const save = () =>
    edited.save(async (written, version) => {
      const input = { name: written.name, definition: { ...written.definition }, version: Number(version) };
      const data = await update.run({ id, input });
      if (data !== undefined) notifySuccess('Saved.');
      return data?.updateJourney.version;
    });
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      !isSaved && current.pathname !== next.pathname && !window.confirm('You have unsaved changes. Leave anyway?'),
    enableBeforeUnload: () => !isSaved,
  });
  const apply = (next: Definition) => {
    history.apply(next);
    close();
  };
  const [shown, setShown] = useState<Shown>('draft');
  const [copied, setCopied] = useState<Step>();
  const copy = (step: Step) => {
    setCopied(step);
    notifySuccess(`${step.id} is copied.`);
  };
  const add = (...[place, what]: Parameters<Parameters<typeof Outline>[0]['onAdd']>) => {
    const added = insertStep(definition, place, what);
    history.apply(added.definition);
    const step = added.definition.steps.find((each) => each.id === added.id);
    if (step !== undefined && step.type !== 'exit') setDialog({ step });
  };
  const shownProblems = isSaved ? problems : [];
  const problem = update.problem?.fields.version === undefined ? update.problem : undefined;
  const [tone, label] = JOURNEY_STATUS[status];
  return (
    <Page
      title={journey.name}
      back={back}
      mark={<StatusBadge tone={tone}>{label}</StatusBadge>}
      actions={
        <>
          <WorkflowLink url={journey.publishedVersion === null ? null : journey.workflowUrl} />
          {mayWrite && status !== 'archived' && (
            <>
              <More definition={definition} name={journey.name} onChoose={setDialog} />
              <PauseOrResume journey={journey} />
              <Button
                variant="default"
                loading={update.running}
                disabled={isSaved || name.trim() === '' || conflict !== undefined}
                onClick={() => void save()}
              >
                Save
              </Button>
              <BacktestButton journey={journey} disabled={!isSaved} />
              <Publish journey={journey} disabled={!isSaved} />
            </>
          )}
        </>
      }
    >
      <ConflictAlert conflict={conflict} of={journey} words={FIELD_WORDS} onKeep={() => void save()} />
      <FormProblem problem={problem} fields={['name']} />
      {journey.pausedReason !== null && (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="This journey has paused itself">
          {journey.pausedReason}
        </Alert>
      )}
      {journey.publishedVersion !== null && <Figures journey={journey} />}
      {!readOnly && <ProblemsAlert problems={shownProblems} />}
      <Section
        title="Steps"
        about={
          journey.publishedVersion === null
            ? 'A draft. Nobody enters until it is published.'
            : 'Changes apply once they are published.'
        }
        actions={
          <>
            {journey.publishedDefinition !== null && <WhichVersion value={shown} onChange={setShown} />}
            {!readOnly && shown === 'draft' && <HistoryButtons {...history} />}
          </>
        }
      >
        {journey.publishedDefinition !== null && shown === 'published' ? (
          <Published journey={journey} choices={choices} />
        ) : (
          <Stack gap="sm">
            {!readOnly && (
              <TextInput
                label="Name"
                maw={420}
                value={name}
                error={problem?.fields.name}
                onChange={(event) => edited.set({ name: event.currentTarget.value })}
              />
            )}
            <Part title="Entry" readOnly={readOnly} onEdit={() => setDialog('entry')}>
              <Text size="sm">{entrySummary(definition.entry, choices.names)}.</Text>
            </Part>
            <Part title="Rules" readOnly={readOnly} onEdit={() => setDialog('rules')}>
              {rulesInWords(definition, choices.names).map((rule) => (
                <Text key={rule} size="sm">
                  {rule}
                </Text>
              ))}
            </Part>
            <Outline
              definition={definition}
              names={choices.names}
              problems={byStep(shownProblems)}
              counts={countsOf(inProgress)}
              readOnly={readOnly}
              copied={copied}
              onCopy={copy}
              onAdd={add}
              onEdit={(step) => setDialog({ step })}
              onRemove={(step) => history.apply(removeStep(definition, step.id))}
            />
          </Stack>
        )}
      </Section>
      {journey.publishedVersion !== null && (
        <People
          journeyId={id}
          search={search}
          steps={definition.steps.map((step) => step.id)}
          isActive={status === 'active'}
        />
      )}
      <StepDialog
        step={typeof dialog === 'object' ? dialog.step : undefined}
        definition={definition}
        choices={choices}
        onClose={close}
        onSave={(step) => apply(replaceStep(definition, step))}
      />
      <EntryDialog
        opened={dialog === 'entry'}
        definition={definition}
        choices={choices}
        onClose={close}
        onSave={apply}
      />
      <RulesDialog
        opened={dialog === 'rules'}
        definition={definition}
        choices={choices}
        onClose={close}
        onSave={apply}
      />
      <ImportDialog opened={dialog === 'import'} onClose={close} onImport={apply} />
      <Archive journey={journey} opened={dialog === 'archive'} onClose={close} />
    </Page>
  );
}

type Shown = 'draft' | 'published';

function WhichVersion({ value, onChange }: { value: Shown; onChange: (value: Shown) => void }) {
  return (
    <SegmentedControl
      aria-label="Version"
      size="xs"
      data={[
        { value: 'draft', label: 'Draft' },
        { value: 'published', label: 'Published' },
      ]}
      value={value}
      onChange={(chosen) => onChange(chosen as Shown)}
    />
  );
}

const nothing = () => {};

/** The version that contacts enter, to look at. */
function Published({ journey, choices: { names } }: { journey: Row; choices: Choices }) {
  const definition = readDefinition(journey.publishedDefinition);
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        Version {journey.publishedVersion}, published{' '}
        {journey.publishedAt === null ? '' : <When at={journey.publishedAt} />}
      </Text>
      <Part title="Entry" readOnly onEdit={nothing}>
        <Text size="sm">{entrySummary(definition.entry, names)}.</Text>
      </Part>
      <Part title="Rules" readOnly onEdit={nothing}>
        {rulesInWords(definition, names).map((rule) => (
          <Text key={rule} size="sm">
            {rule}
          </Text>
        ))}
      </Part>
      <Outline
        definition={definition}
        names={names}
        problems={new Map()}
        counts={countsOf(journey.inProgress)}
        readOnly
        copied={undefined}
        onCopy={nothing}
        onAdd={nothing}
        onEdit={nothing}
        onRemove={nothing}
      />
    </Stack>
  );
}

function byStep(problems: Row['problems']): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { stepId, ...problem } of problems)
    if (stepId !== null) found.set(stepId, [...(found.get(stepId) ?? []), problemInWords(problem)]);
  return found;
}

/** Contacts at each step, whatever version they are on. */
function countsOf(inProgress: Row['inProgress']): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { stepId, contactCount } of inProgress) counts.set(stepId, (counts.get(stepId) ?? 0) + contactCount);
  return counts;
}

function Part({
  title,
  readOnly,
  onEdit,
  children,
}: {
  title: string;
  readOnly: boolean;
  onEdit: () => void;
  children: ReactNode;
}) {
  return (
    <Card p="sm" maw={640}>
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <div>
          <Text size="xs" fw={600} c="dimmed">
            {title}
          </Text>
          {children}
        </div>
        {!readOnly && (
          <ActionIcon aria-label={`Edit ${title.toLowerCase()}`} onClick={onEdit}>
            <IconPencil size={16} aria-hidden />
          </ActionIcon>
        )}
      </Group>
    </Card>
  );
}

function Figures({ journey: { runs, publishedVersion } }: { journey: Row }) {
  return (
    <Stats label={`Contacts, version ${publishedVersion ?? 0}`}>
      <Stat label="In progress" value={runs.active + runs.paused} />
      <Stat label="Completed" value={runs.completed} />
      <Stat label="Reached the goal" value={runs.reachedGoal} />
      <Stat label="Left early" value={runs.exited - runs.reachedGoal} />
    </Stats>
  );
}

interface History {
  apply: (next: Definition) => void;
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
}

/** Undo and redo of changes to a definition, by buttons and by keyboard. */
function useHistory(definition: Definition, set: (definition: Definition) => void, isListening: boolean): History {
  const [past, setPast] = useState<Definition[]>([]);
  const [future, setFuture] = useState<Definition[]>([]);
  const step = (from: Definition[], setFrom: typeof setPast, setTo: typeof setPast) => {
    const last = from.at(-1);
    if (last === undefined) return undefined;
    return () => {
      setFrom(from.slice(0, -1));
      setTo((others) => [...others, definition]);
      set(last);
    };
  };
  const undo = step(past, setPast, setFuture);
  const redo = step(future, setFuture, setPast);
  const press = useEffectEvent((event: KeyboardEvent) => {
    const isText =
      event.target instanceof HTMLElement && event.target.matches('input, textarea, [contenteditable=true]');
    if (!isListening || isText || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z') return;
    event.preventDefault();
    if (event.shiftKey) redo?.();
    else undo?.();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
  return {
    apply: (next) => {
      setPast([...past, definition]);
      setFuture([]);
      set(next);
    },
    undo,
    redo,
  };
}

function HistoryButtons({ undo, redo }: History) {
  return (
    <>
      <ActionIcon size="lg" variant="default" aria-label="Undo" disabled={undo === undefined} onClick={undo}>
        <IconArrowBackUp size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon size="lg" variant="default" aria-label="Redo" disabled={redo === undefined} onClick={redo}>
        <IconArrowForwardUp size={16} aria-hidden />
      </ActionIcon>
    </>
  );
}

function More({
  definition,
  name,
  onChoose,
}: {
  definition: Definition;
  name: string;
  onChoose: (dialog: Dialog) => void;
}) {
  const download = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([JSON.stringify(definition, null, 2)], { type: 'application/json' }));
    link.download = `${name}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" px={9} aria-label={`More for ${name}`}>
          <IconDots size={18} aria-hidden />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconDownload size={16} aria-hidden />} onClick={download}>
          Download as JSON
        </Menu.Item>
        <Menu.Item leftSection={<IconUpload size={16} aria-hidden />} onClick={() => onChoose('import')}>
          Replace by a file
        </Menu.Item>
        <Menu.Item
          color="var(--mantine-color-error)"
          leftSection={<IconArchive size={16} aria-hidden />}
          onClick={() => onChoose('archive')}
        >
          Archive
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Archive({ journey, opened, onClose }: { journey: Row; opened: boolean; onClose: () => void }) {
  const archive = useApiMutation(ARCHIVE);
  const count = journey.runs.active + journey.runs.paused;
  const confirm = async () => {
    if ((await archive.run({ id: journey.id })) === undefined) return;
    notifySuccess(`${journey.name} is archived.`);
    onClose();
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Archive this journey?"
      action="Archive"
      word={journey.name}
      running={archive.running}
      problem={archive.problem}
      onConfirm={() => void confirm()}
    >
      It ends for good{count > 0 ? `, and ${count.toLocaleString()} contacts in progress leave it` : ''}. What happened
      in it stays readable.
    </Confirm>
  );
}
