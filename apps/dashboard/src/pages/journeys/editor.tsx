import { Alert, Box, Button, Card, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { useVersionedForm } from '../../data/versioned-form.ts';
import { graphql } from '../../generated/gql.ts';
import type { JourneyQuery } from '../../generated/graphql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { ConflictAlert } from '../../components/conflict-alert.tsx';
import { FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Page, Section } from '../../components/page.tsx';
import { Stat, Stats } from '../../components/stats.tsx';
import { WorkflowLink } from '../../components/workflow-link.tsx';
import { percent } from '../campaigns/campaign-labels.ts';
import { BacktestButton } from './backtest-dialog.tsx';
import type { Choices } from './choices.ts';
import { isEquivalent } from './compare.ts';
import { countsOf } from './counts.ts';
import { readDefinition } from './definition.ts';
import { GraphView, type GraphViewHandle } from './graph-view.tsx';
import { HistoryButtons, useHistory } from './history.tsx';
import { JourneyMenu } from './journey-menu.tsx';
import { JOURNEY_STATUS } from './journey-search.ts';
import { describeProblem } from './labels.ts';
import { PauseOrResume } from './pause.tsx';
import { People } from './people.tsx';
import { nodeOf, ProblemsAlert, Publish } from './publish.tsx';
import { RULES } from './step-panel.tsx';
import { describeRules } from './summaries.ts';
import { Compare, Published, type Shown, VersionSwitch } from './versions.tsx';

const UPDATE = graphql(`
  mutation UpdateJourney($id: ID!, $input: UpdateJourneyInput!) {
    updateJourney(id: $id, input: $input) {
      id
      version
    }
  }
`);

type Row = JourneyQuery['journey'];

const FIELD_LABELS = { name: 'name', definition: 'steps and rules' };

/** Room for the graph and a panel next to it, in pixels. */
const WIDTH = 1500;

/** The page of a journey: its figures, its steps, which may be changed, and the contacts in it. */
export function JourneyEditor({ journey, choices, back }: { journey: Row; choices: Choices; back: ReactNode }) {
  const { id, status, problems, inProgress, publishedDefinition } = journey;
  const search = useSearch({ from: '/auth/p/$projectId/journeys/$journeyId' });
  const isPhone = useMediaQuery('(max-width: 47.99em)', undefined, { getInitialValueInEffect: false });
  const update = useApiMutation(UPDATE);
  const canWrite = usePermission('write') && status !== 'archived';
  const edited = useVersionedForm(
    {
      content: { name: journey.name, definition: readDefinition(journey.definition) },
      version: journey.version,
    },
    { mutation: update, same: isEquivalent },
  );
  const { content, conflict, problem, isSaved } = edited;
  const { name, definition } = content;
  const [shown, setShown] = useState<Shown>('draft');
  const [isIncomplete, setIncomplete] = useState(false);
  const isEditable = canWrite && conflict?.seesTheirs !== true;
  const isDraft = publishedDefinition === null || shown === 'draft';
  const history = useHistory(definition, (next) => edited.set({ definition: next }), isEditable && isDraft);
  const graph = useRef<GraphViewHandle>(null);
  const save = () =>
    edited.save(async (written, version) => {
      const input = { name: written.name, definition: { ...written.definition }, version: Number(version) };
      const data = await update.run({ id, input });
      if (data !== undefined) notifySuccess('Saved.');
      return data?.updateJourney.version;
    });
  useUnsavedChanges(!isSaved);
  const shownProblems = isSaved && status !== 'archived' ? problems : [];
  const deletedEntry = deletedEntryOf(journey);
  const select = (selected: string) => {
    setShown('draft');
    // The draft may have to be drawn first.
    setTimeout(() => graph.current?.select(selected));
  };
  const counts = journey.publishedVersion === null ? undefined : countsOf(inProgress, journey.passages);
  const [tone, label] = JOURNEY_STATUS[status];
  return (
    <Page
      title={journey.name}
      back={back}
      width={WIDTH}
      mark={<StatusBadge tone={tone}>{label}</StatusBadge>}
      actions={
        <>
          <WorkflowLink url={journey.publishedVersion === null ? null : journey.workflowUrl} />
          {canWrite && (
            <>
              <JourneyMenu journey={journey} definition={definition} onImport={history.apply} />
              <PauseOrResume journey={journey} />
              <Button
                variant="default"
                loading={update.running}
                disabled={isSaved || isIncomplete || name.trim() === '' || conflict !== undefined}
                onClick={() => void save()}
              >
                Save
              </Button>
              <BacktestButton journey={journey} disabled={!isSaved} />
              <Publish journey={journey} disabled={!isSaved} onShow={select} />
            </>
          )}
        </>
      }
    >
      <ConflictAlert conflict={conflict} of={journey} labels={FIELD_LABELS} onKeep={() => void save()} />
      <FormProblem problem={problem} fields={['name']} />
      {journey.pausedReason !== null && (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="This journey was paused automatically">
          {journey.pausedReason}
        </Alert>
      )}
      {deletedEntry !== undefined && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="No contact enters this journey">
          Contacts enter it by a {deletedEntry} that was deleted. Change the entry and publish the journey, or pause it.
          Contacts who are in it go on.
        </Alert>
      )}
      {journey.publishedVersion !== null && <Figures journey={journey} />}
      {canWrite && <ProblemsAlert problems={shownProblems} onShow={select} />}
      <Section
        title="Steps"
        about={
          status === 'archived'
            ? 'Archived. Contacts can no longer enter.'
            : journey.publishedVersion === null
              ? 'Draft. Contacts can enter once it is published.'
              : 'Changes apply once they are published.'
        }
        actions={
          <>
            {publishedDefinition !== null && <VersionSwitch value={shown} onChange={setShown} />}
            {isEditable && isDraft && <HistoryButtons {...history} />}
          </>
        }
      >
        {isDraft ? (
          <Stack gap="sm">
            <div className="journey-header" data-editable={isEditable || undefined}>
              {isEditable && (
                <TextInput
                  label="Name"
                  value={name}
                  error={problem?.fields.name}
                  onChange={(event) => edited.set({ name: event.currentTarget.value })}
                />
              )}
              <Rules
                rules={describeRules(definition, choices.names)}
                onEdit={isEditable ? () => graph.current?.select(RULES) : undefined}
              />
            </div>
            <GraphView
              ref={graph}
              label="Steps"
              definition={definition}
              choices={choices}
              journeyId={id}
              isActive={status === 'active'}
              counts={counts}
              problems={byStep(shownProblems)}
              edit={isEditable ? { apply: history.apply, revision: history.revision, setIncomplete } : undefined}
              isPhone={isPhone}
            />
          </Stack>
        ) : shown === 'published' ? (
          <Published journey={journey} choices={choices} counts={counts} isPhone={isPhone} />
        ) : (
          <Compare journey={journey} draft={definition} choices={choices} counts={counts} isPhone={isPhone} />
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
    </Page>
  );
}

/** What contacts enter an active journey by, if it was deleted. */
function deletedEntryOf({ status, definition, publishedDefinition, problems }: Row): 'group' | 'form' | undefined {
  if (status !== 'active') return undefined;
  const [draft, published] = [definition, publishedDefinition].map((each) => readDefinition(each).entry);
  const isDeleted = (member: 'groupId' | 'formId') =>
    draft?.[member] !== undefined &&
    draft[member] === published?.[member] &&
    problems.some(({ field }) => field === `definition.entry.${member}`);
  if (isDeleted('groupId')) return 'group';
  return isDeleted('formId') ? 'form' : undefined;
}

/** The problems of each node. */
function byStep(problems: Row['problems']): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const problem of problems) {
    const id = nodeOf(problem);
    found.set(id, [...(found.get(id) ?? []), describeProblem(problem)]);
  }
  return found;
}

function Rules({ rules, onEdit }: { rules: readonly string[]; onEdit: (() => void) | undefined }) {
  return (
    <Card p="sm">
      <Group justify="space-between" align="flex-start">
        <Box flex="1 1 8rem">
          <Text size="xs" fw={600} c="dimmed">
            Rules
          </Text>
          <Text size="sm">{rules.join(' ')}</Text>
        </Box>
        {onEdit && (
          <Button variant="default" size="compact-sm" flex="none" onClick={onEdit}>
            Edit rules
          </Button>
        )}
      </Group>
    </Card>
  );
}

/** The contacts of all versions. */
function Figures({ journey: { runs } }: { journey: Row }) {
  const { active, paused, completed, exited, reachedGoal } = runs;
  return (
    <Stats label="Contacts, all versions">
      <Stat label="In progress" value={active + paused} />
      <Stat label="Completed" value={completed} />
      <Stat
        label="Reached the goal"
        value={reachedGoal}
        detail={`${percent(reachedGoal, active + paused + completed + exited)} of those who entered`}
      />
      <Stat label="Left early" value={exited - reachedGoal} />
    </Stats>
  );
}
