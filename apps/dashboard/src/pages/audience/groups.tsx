import { Button, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconUsersGroup } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DialogForm, required } from '../../components/form.tsx';
import { RowLink } from '../../components/link.tsx';
import { useCreateDialog } from '../../components/use-create-dialog.ts';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { MemberFields, useMembers } from './member-fields.tsx';

const GROUPS = graphql(`
  query Groups($after: String) {
    groups(first: 50, after: $after) {
      nodes {
        id
        name
        publicName
        memberCount
        createdAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const CREATE = graphql(`
  mutation CreateGroup($input: CreateGroupInput!) {
    createGroup(input: $input) {
      id
    }
  }
`);

/** The group list. */
export function Groups() {
  const search = useSearch({ from: '/auth/p/$projectId/groups' });
  const groups = useApiQuery(GROUPS, { after: cursorOf(search) ?? null });
  const { id: projectId } = useProject();
  const [creating, setCreating] = useCreateDialog('write');
  const canWrite = usePermission('write');
  const create = canWrite && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New group
    </Button>
  );
  return (
    <Page
      title="Groups"
      about="Groups are lists of contacts that you or the API maintain. Segments update automatically."
      actions={create}
    >
      <QueryResult of={groups} skeleton={<RowsSkeleton />}>
        {({ groups: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No groups yet" icon={IconUsersGroup} action={create}>
              Send campaigns to a group, such as everyone who signed up for a newsletter.
            </Empty>
          ) : (
            <Stack>
              <DataTable
                label="Groups"
                rows={nodes}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Name',
                    cell: ({ id, name }) => (
                      <RowLink to="/p/$projectId/groups/$groupId" params={{ projectId, groupId: id }}>
                        {name}
                      </RowLink>
                    ),
                  },
                  {
                    title: 'Public name',
                    from: 'sm',
                    cell: ({ publicName }) => publicName ?? <span className="dimmed">Not shown</span>,
                  },
                  {
                    title: 'Members',
                    align: 'right',
                    width: 120,
                    cell: ({ memberCount }) => memberCount.toLocaleString(),
                  },
                  { title: 'Created', from: 'sm', width: 170, cell: ({ createdAt }) => <When at={createdAt} /> },
                ]}
              />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </Stack>
          )
        }
      </QueryResult>
      <Dialog opened={creating} onClose={() => setCreating(false)} title="New group">
        <NewGroup onClose={() => setCreating(false)} />
      </Dialog>
    </Page>
  );
}

/** What the server calls `contactIds` is the members here. */
const NO_MEMBER = 'None of these addresses belongs to a contact. A group needs at least one member.';

function NewGroup({ onClose }: { onClose: () => void }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  const members = useMembers();
  return (
    <DialogForm
      values={{ name: '', emails: '' }}
      validate={{ name: required('Enter a name') }}
      mutation={create}
      hasOtherInput={members.picked.length > 0}
      otherFields={['contactIds']}
      save={async ({ name, emails }) => {
        const chosen = members.chosen(emails);
        const data = chosen && (await create.run({ input: { name, ...chosen } }));
        if (data === undefined) return;
        void navigate({ to: '/p/$projectId/groups/$groupId', params: { projectId, groupId: data.createGroup.id } });
      }}
      submit="Create"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('name')} />
          <MemberFields members={members} error={create.problem?.fields.contactIds && NO_MEMBER} form={form} />
        </>
      )}
    </DialogForm>
  );
}
