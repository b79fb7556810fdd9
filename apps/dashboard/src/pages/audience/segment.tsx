import { Button, Card, Group, Menu, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconDots, IconTrash } from '@tabler/icons-react';
import { useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useProject } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { useRead } from '../../data/read.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FormProblem } from '../../parts/form.tsx';
import { ButtonLink, TextLink } from '../../parts/link.tsx';
import { tell } from '../../parts/notify.tsx';
import { BackLabel, Page, Section } from '../../parts/page.tsx';
import { Answer } from '../../parts/states.tsx';
import { DataTable } from '../../parts/table.tsx';
import { ExportLink } from './export-link.tsx';
import { AUDIENCES } from './contact-filters.tsx';
import { CUSTOM_FIELDS } from './field-values.tsx';
import { BundleEditor } from './segment-builder.tsx';
import { type Bundle, fieldChoices, type Filter, filterOf, newBundle, newCondition, treeOf } from './segment-tree.ts';
import { Subscription } from './subscription.tsx';

const SEGMENT = graphql(`
  query Segment($id: ID!) {
    segment(id: $id) {
      id
      name
      filter
    }
  }
`);

const CAMPAIGN_NAMES = graphql(`
  query CampaignNames {
    campaigns(first: 200) {
      nodes {
        id
        name
      }
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
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteSegment($id: ID!) {
    deleteSegment(id: $id)
  }
`);

const NEW = 'new';
const TYPING_MS = 400;

/** A segment: its conditions, and who is in it while they are being changed. */
export function Segment() {
  const { segmentId } = useParams({ from: '/gate/p/$projectId/segments/$segmentId' });
  const { id: projectId } = useProject();
  const isNew = segmentId === NEW;
  const segment = useRead(SEGMENT, { id: segmentId }, { pause: isNew });
  const row = segment.data?.segment;
  const back = (
    <TextLink to="/p/$projectId/segments" params={{ projectId }} size="sm">
      <BackLabel>Segments</BackLabel>
    </TextLink>
  );
  if (isNew) return <Editor key={NEW} back={back} name="" tree={newBundle('all', [newCondition()])} />;
  if (row !== undefined)
    return <Editor key={row.id} id={row.id} back={back} name={row.name} tree={treeOf(row.filter as Filter)} />;
  return (
    <Page title="Segment" back={back}>
      <Answer of={segment}>{() => null}</Answer>
    </Page>
  );
}

interface EditorProps {
  /** Missing while it has not been saved. */
  id?: string;
  name: string;
  tree: Bundle;
  back: React.ReactNode;
}

function Editor({ id, name: savedName, tree: savedTree, back }: EditorProps) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const [name, setName] = useState(savedName);
  const [tree, setTree] = useState(savedTree);
  const [changed, setChanged] = useState(false);
  const create = useChange(CREATE);
  const update = useChange(UPDATE);
  const mayWrite = useMay()('write');
  const filter = filterOf(tree);
  useBlocker({
    shouldBlockFn: () => changed && !window.confirm('What you changed is not saved. Leave anyway?'),
    enableBeforeUnload: () => changed,
  });
  const save = async () => {
    if (filter === undefined) return;
    if (id === undefined) {
      const data = await create.run({ input: { name, filter } });
      if (data === undefined) return;
      tell('The segment is saved.');
      const params = { projectId, segmentId: data.createSegment.id };
      void navigate({ to: '/p/$projectId/segments/$segmentId', params, replace: true, ignoreBlocker: true });
      return;
    }
    if ((await update.run({ id, input: { name, filter } })) === undefined) return;
    tell('Saved.');
    setChanged(false);
  };
  const problem = create.problem ?? update.problem;
  return (
    <Page
      title={id === undefined ? 'New segment' : savedName}
      back={back}
      about="Who is in it follows from what contacts are now; nobody has to be added or taken out."
      actions={
        mayWrite && (
          <>
            {id !== undefined && <More id={id} name={savedName} />}
            <Button
              loading={create.running || update.running}
              disabled={filter === undefined || name.trim() === '' || (id !== undefined && !changed)}
              onClick={() => void save()}
            >
              Save
            </Button>
          </>
        )
      }
    >
      <FormProblem problem={problem} fields={['name']} />
      <Card>
        <Stack>
          <TextInput
            label="Name"
            placeholder="Pro, quiet for a month"
            maw={420}
            value={name}
            error={problem?.fields.name}
            readOnly={!mayWrite}
            onChange={(event) => {
              setName(event.currentTarget.value);
              setChanged(true);
            }}
          />
          <Conditions
            tree={tree}
            onChange={(next) => {
              setTree(next);
              setChanged(true);
            }}
          />
        </Stack>
      </Card>
      <Preview filter={filter} {...(id === undefined ? {} : { id })} />
    </Page>
  );
}

function Conditions({ tree, onChange }: { tree: Bundle; onChange: (tree: Bundle) => void }) {
  const fields = useRead(CUSTOM_FIELDS, {}).data?.customFields.nodes ?? [];
  const groups = useRead(AUDIENCES, {}).data?.groups.nodes ?? [];
  const campaigns = useRead(CAMPAIGN_NAMES, {}).data?.campaigns.nodes ?? [];
  return (
    <BundleEditor bundle={tree} choices={{ fields: fieldChoices(fields, groups), campaigns }} onChange={onChange} />
  );
}

/** Who is in it as it stands, counted again after each pause in typing. */
function Preview({ filter, id }: { filter: Filter | undefined; id?: string }) {
  const { id: projectId } = useProject();
  const [settled] = useDebouncedValue(filter === undefined ? undefined : JSON.stringify(filter), TYPING_MS);
  const preview = useRead(
    PREVIEW,
    { filter: settled === undefined ? {} : (JSON.parse(settled) as Filter) },
    { pause: settled === undefined },
  );
  if (filter === undefined || settled === undefined) {
    return (
      <Text size="sm" c="dimmed" role="status">
        Complete the conditions to see who is in it.
      </Text>
    );
  }
  return (
    <Answer of={preview}>
      {({ segmentPreview: { contactCount, contacts } }) => (
        <Section
          title={`${contactCount.toLocaleString('en')} ${contactCount === 1 ? 'contact' : 'contacts'} now`}
          about={contactCount > contacts.length ? 'The ten newest of them:' : undefined}
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
                  All of them
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
                { title: 'Name', cell: (contact) => contact.name },
                { title: 'Address', from: 'xs', cell: (contact) => contact.email },
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
    </Answer>
  );
}

function More({ id, name }: { id: string; name: string }) {
  const [deleting, setDeleting] = useState(false);
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const remove = useChange(DELETE);
  const confirm = async () => {
    if ((await remove.run({ id })) === undefined) return;
    tell(`${name} was deleted.`);
    void navigate({ to: '/p/$projectId/segments', params: { projectId }, ignoreBlocker: true });
  };
  return (
    <Group gap={0}>
      <Menu>
        <Menu.Target>
          <Button variant="default" px={9} aria-label={`More for ${name}`}>
            <IconDots size={18} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setDeleting(true)}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={deleting}
        onClose={() => setDeleting(false)}
        title="Delete this segment?"
        action="Delete"
        word={name}
        running={remove.running}
        problem={remove.problem}
        onConfirm={() => void confirm()}
      >
        Its contacts stay. Campaigns that were to go to it go to nobody by it.
      </Confirm>
    </Group>
  );
}
