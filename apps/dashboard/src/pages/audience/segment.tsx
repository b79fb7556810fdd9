import { Alert, Button, Card, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { useVersionedForm } from '../../data/versioned-form.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { SegmentQuery } from '../../generated/graphql.ts';
import { ConflictAlert } from '../../components/conflict-alert.tsx';
import { FormProblem } from '../../components/form.tsx';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { MoreMenu } from '../../components/more-menu.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { ExportLink } from './export-link.tsx';
import { ContactLink } from './contact-link.tsx';
import { CUSTOM_FIELDS } from './field-values.tsx';
import { BundleEditor } from './segment-builder.tsx';
import {
  type Bundle,
  fieldChoices,
  type Filter,
  filterOf,
  newBundle,
  newCondition,
  sameTree,
  treeOf,
} from './segment-tree.ts';
import { SegmentSize } from './segment-size.tsx';
import { Subscription } from './subscription.tsx';

const SEGMENT = graphql(`
  query Segment($id: ID!) {
    segment(id: $id) {
      id
      name
      filter
      problems {
        message
      }
      version
      updatedAt
      editedById
      editedByName
    }
  }
`);

const PREVIEW = graphql(`
  query SegmentPreview($filter: JSON!) {
    segmentPreview(filter: $filter) {
      contactCount
      contacts {
        id
        name
        hasName
        email
        suppressionStatus
      }
    }
  }
`);

const CREATE = graphql(`
  mutation CreateSegment($input: CreateSegmentInput!) {
    createSegment(input: $input) {
      id
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateSegment($id: ID!, $input: UpdateSegmentInput!) {
    updateSegment(id: $id, input: $input) {
      id
      version
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteSegment($id: ID!) {
    segmentDelete(id: $id) {
      deletedId
    }
  }
`);

const NEW = 'new';
const TYPING_MS = 400;

/** The segment editor with a live preview of matching contacts. */
export function Segment() {
  const { segmentId } = useParams({ from: '/auth/p/$projectId/segments/$segmentId' });
  const { id: projectId } = useProject();
  const isNew = segmentId === NEW;
  const segment = useApiQuery(SEGMENT, { id: segmentId }, { pause: isNew });
  const row = segment.data?.segment;
  const back = (
    <TextLink to="/p/$projectId/segments" params={{ projectId }} size="sm">
      <BackLabel>Segments</BackLabel>
    </TextLink>
  );
  if (isNew) return <Editor key={NEW} back={back} />;
  if (row !== undefined) return <Editor key={row.id} segment={row} back={back} />;
  return (
    <Page title="Segment" back={back}>
      <QueryResult of={segment}>{() => null}</QueryResult>
    </Page>
  );
}

/** The name of the item being edited. */
const FIELD_LABELS = { name: 'name', tree: 'conditions' };

interface EditorProps {
  /** Undefined until first saved. */
  segment?: SegmentQuery['segment'];
  back: React.ReactNode;
}

const NOTHING_YET = () => ({ name: '', tree: newBundle('all', [newCondition()]) });
const contentOf = ({ name, filter }: SegmentQuery['segment']) => ({ name, tree: treeOf(filter as Filter) });

function Editor({ segment, back }: EditorProps) {
  const id = segment?.id;
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  const update = useApiMutation(UPDATE);
  const edited = useVersionedForm(
    { content: segment === undefined ? NOTHING_YET() : contentOf(segment), version: segment?.version ?? 0 },
    { mutation: update, same: sameTree },
  );
  const { content, set, conflict, isSaved } = edited;
  const { name, tree } = content;
  const changed = !isSaved;
  const canWrite = usePermission('write');
  const problems = segment?.problems ?? [];
  const readOnly = !canWrite || conflict?.seesTheirs === true;
  const filter = filterOf(tree);
  useUnsavedChanges(changed);
  const save = async () => {
    if (filter === undefined) return;
    if (id === undefined) {
      const data = await create.run({ input: { name, filter } });
      if (data === undefined) return;
      notifySuccess('Segment created.');
      const params = { projectId, segmentId: data.createSegment.id };
      void navigate({ to: '/p/$projectId/segments/$segmentId', params, replace: true, ignoreBlocker: true });
      return;
    }
    await edited.save(async (written, version) => {
      const input = { name: written.name, filter: filterOf(written.tree), version: Number(version) };
      const data = await update.run({ id, input });
      if (data !== undefined) notifySuccess('Saved.');
      return data?.updateSegment.version;
    });
  };
  const problem = create.problem ?? edited.problem;
  return (
    <Page
      title={segment?.name ?? 'New segment'}
      back={back}
      about="Contacts are added and removed automatically as they match the conditions."
      actions={
        canWrite && (
          <>
            {segment !== undefined && <More id={segment.id} name={segment.name} />}
            <Button
              loading={create.running || update.running}
              disabled={
                filter === undefined || name.trim() === '' || (id !== undefined && !changed) || conflict !== undefined
              }
              onClick={() => void save()}
            >
              Save
            </Button>
          </>
        )
      }
    >
      {segment !== undefined && (
        <ConflictAlert conflict={conflict} of={segment} labels={FIELD_LABELS} onKeep={() => void save()} />
      )}
      {problems.length > 0 && (
        <Alert
          color="red"
          icon={<IconAlertTriangle aria-hidden />}
          title="This segment has no contacts until you change its conditions"
          className="breakable"
        >
          {problems.map(({ message }) => (
            <Text key={message} size="sm">
              It {message}.
            </Text>
          ))}
        </Alert>
      )}
      <FormProblem problem={problem} fields={['name']} />
      <Card>
        <Stack>
          <TextInput
            label="Name"
            placeholder="Pro, inactive for a month"
            maw={420}
            value={name}
            error={problem?.fields.name}
            readOnly={readOnly}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <Conditions tree={tree} onChange={(next) => set({ tree: next })} />
        </Stack>
      </Card>
      {(problems.length === 0 || changed) && <Preview filter={filter} id={changed ? undefined : id} />}
      {id !== undefined && <SegmentSize id={id} />}
    </Page>
  );
}

function Conditions({ tree, onChange }: { tree: Bundle; onChange: (tree: Bundle) => void }) {
  const fields = useApiQuery(CUSTOM_FIELDS, {});
  // Before the names of fields are known, every condition would seem to be on a deleted one.
  return (
    <QueryResult of={fields}>
      {({ customFields: { nodes } }) => <BundleEditor bundle={tree} fields={fieldChoices(nodes)} onChange={onChange} />}
    </QueryResult>
  );
}

/** Previews matching contacts, recounted when typing pauses. */
function Preview({
  filter,
  id,
}: {
  filter: Filter | undefined;
  /** The segment that these contacts are in; undefined while it has other conditions. */
  id: string | undefined;
}) {
  const { id: projectId } = useProject();
  const [settled] = useDebouncedValue(filter === undefined ? undefined : JSON.stringify(filter), TYPING_MS);
  const preview = useApiQuery(
    PREVIEW,
    { filter: settled === undefined ? {} : (JSON.parse(settled) as Filter) },
    { pause: settled === undefined },
  );
  if (filter === undefined || settled === undefined) {
    return (
      <Text size="sm" c="dimmed" role="status">
        Complete the conditions to see matching contacts.
      </Text>
    );
  }
  return (
    <QueryResult of={preview}>
      {({ segmentPreview: { contactCount, contacts } }) => (
        <Section
          title={`${contactCount.toLocaleString()} ${contactCount === 1 ? 'contact' : 'contacts'} now`}
          about={contactCount > contacts.length ? 'The ten newest:' : undefined}
          actions={
            id !== undefined && (
              <>
                <ExportLink search={{ segment: id }} size="compact-sm" />
                <ButtonLink
                  variant="default"
                  size="compact-sm"
                  to="/p/$projectId/contacts"
                  params={{ projectId }}
                  search={{ segment: id }}
                >
                  View all
                </ButtonLink>
              </>
            )
          }
        >
          {contacts.length > 0 && (
            <DataTable
              label="Contacts in the segment"
              rows={contacts}
              keyOf={(contact) => contact.id}
              columns={[
                { title: 'Contact', cell: (contact) => <ContactLink contact={contact} /> },
                {
                  title: 'Status',
                  width: 130,
                  cell: ({ suppressionStatus }) => <Subscription status={suppressionStatus} />,
                },
              ]}
            />
          )}
        </Section>
      )}
    </QueryResult>
  );
}

function More({ id, name }: { id: string; name: string }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const remove = useApiMutation(DELETE);
  const confirm = async () => {
    if ((await remove.run({ id })) === undefined) return;
    notifySuccess(`${name} was deleted.`);
    void navigate({ to: '/p/$projectId/segments', params: { projectId }, ignoreBlocker: true, replace: true });
  };
  return (
    <MoreMenu
      name={name}
      remove={{
        title: 'Delete this segment?',
        about:
          'Its contacts are kept. Campaigns that include or exclude it can’t start until you remove it from them. Active journeys that use it are paused.',
        run: () => void confirm(),
        running: remove.running,
        problem: remove.problem,
      }}
    />
  );
}
