import { Button, Menu, Stack, TextInput } from '@mantine/core';
import { IconEye, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { GroupMembersQuery } from '../../generated/graphql.ts';
import { DotsMenu } from '../../components/dots-menu.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { countOf } from '../../components/numbers.ts';
import { Confirm } from '../../components/confirm.tsx';
import { DialogForm, FormProblem } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { RowButton } from '../../components/row-button.tsx';
import { number } from '../campaigns/campaign-labels.ts';
import { ExportLink } from './export-link.tsx';
import { MemberFields, useMembers } from './member-fields.tsx';
import { ContactLink, labelOf } from './contact-link.tsx';
import { Subscription } from './subscription.tsx';

const MEMBERS = graphql(`
  query GroupMembers($id: ID!, $after: String) {
    group(id: $id) {
      id
      name
      publicName
      memberCount
      leftCount
    }
    contacts(groupId: $id, first: 50, after: $after) {
      nodes {
        id
        name
        hasName
        email
        suppressionStatus
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const RENAME = graphql(`
  mutation RenameGroup($id: ID!, $name: String!) {
    updateGroup(id: $id, input: { name: $name }) {
      id
    }
  }
`);

const SET_PUBLIC_NAME = graphql(`
  mutation SetGroupPublicName($id: ID!, $publicName: String) {
    setGroupPublicName(id: $id, publicName: $publicName) {
      id
    }
  }
`);

const ADD = graphql(`
  mutation AddToGroup($id: ID!, $contactIds: [String!]!, $emails: [String!]!) {
    addContactsToGroup(id: $id, input: { contactIds: $contactIds, emails: $emails }) {
      added
      matched
      unknownEmails
    }
  }
`);

const REMOVE = graphql(`
  mutation RemoveFromGroup($id: ID!, $contactIds: [ID!]!) {
    groupRemoveContacts(id: $id, contactIds: $contactIds) {
      removed
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteGroup($id: ID!) {
    groupDelete(id: $id) {
      deletedId
    }
  }
`);

type GroupRow = GroupMembersQuery['group'];
type Member = GroupMembersQuery['contacts']['nodes'][number];
type Asked = 'add' | 'rename' | 'show' | 'delete' | undefined;

/** A group and its members. */
export function Group() {
  const { groupId } = useParams({ from: '/auth/p/$projectId/groups/$groupId' });
  const search = useSearch({ from: '/auth/p/$projectId/groups/$groupId' });
  const { id: projectId } = useProject();
  const members = useApiQuery(MEMBERS, { id: groupId, after: cursorOf(search) ?? null });
  const group = members.data?.group;
  const [asked, ask] = useState<Asked>();
  const canWrite = usePermission('write');
  return (
    <Page
      title={group?.name ?? 'Group'}
      about={group && aboutOf(group)}
      back={
        <TextLink to="/p/$projectId/groups" params={{ projectId }} size="sm">
          <BackLabel>Groups</BackLabel>
        </TextLink>
      }
      actions={
        group && (
          <>
            <ExportLink search={{ group: groupId }} />
            {canWrite && <Actions group={group} ask={ask} />}
          </>
        )
      }
    >
      <QueryResult of={members} skeleton={<RowsSkeleton rows={10} />}>
        {({ contacts: { nodes, pageInfo } }) => (
          <Stack>
            <Members groupId={groupId} members={nodes} />
            <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
          </Stack>
        )}
      </QueryResult>
      {group && <Dialogs group={group} asked={asked} onClose={() => ask(undefined)} />}
    </Page>
  );
}

/** The member count and the public name. */
function aboutOf({ memberCount, publicName, leftCount }: GroupRow): string {
  const members = countOf(memberCount, 'member');
  if (publicName === null) return `${members}. Members do not see this group.`;
  const left =
    leftCount === 0
      ? ''
      : ` ${number(leftCount)} unsubscribed from it and ${leftCount === 1 ? 'gets' : 'get'} no email for it.`;
  return `${members}. Members see it as “${publicName}” on the unsubscribe page.${left}`;
}

function Actions({ group, ask }: { group: GroupRow; ask: (what: Asked) => void }) {
  return (
    <>
      <DotsMenu label={`More for ${group.name}`}>
        <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => ask('rename')}>
          Rename
        </Menu.Item>
        <Menu.Item leftSection={<IconEye size={16} aria-hidden />} onClick={() => ask('show')}>
          Public name
        </Menu.Item>
        <Menu.Item
          color="var(--mantine-color-error)"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() => ask('delete')}
        >
          Delete
        </Menu.Item>
      </DotsMenu>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => ask('add')}>
        Add members
      </Button>
    </>
  );
}

function Members({ groupId, members }: { groupId: string; members: Member[] }) {
  const remove = useApiMutation(REMOVE);
  const canWrite = usePermission('write');
  const take = async (member: Member) => {
    if ((await remove.run({ id: groupId, contactIds: [member.id] })) !== undefined)
      notifySuccess(`${labelOf(member)} was removed from the group.`);
  };
  return (
    <>
      <FormProblem problem={remove.problem} />
      <DataTable
        label="Members"
        rows={members}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Contact',
            cell: (member) => <ContactLink contact={member} />,
          },
          {
            title: 'Status',
            width: 130,
            cell: ({ suppressionStatus }) => <Subscription status={suppressionStatus} />,
          },
          {
            title: 'Remove',
            silent: true,
            align: 'right',
            width: 96,
            cell: (member) =>
              canWrite && (
                <RowButton color="gray" run={() => take(member)}>
                  Remove<span className="visually-hidden"> {labelOf(member)}</span>
                </RowButton>
              ),
          },
        ]}
      />
    </>
  );
}

function Dialogs({ group, asked, onClose }: { group: GroupRow; asked: Asked; onClose: () => void }) {
  return (
    <>
      <Dialog opened={asked === 'add'} onClose={onClose} title="Add members">
        <AddForm group={group} onClose={onClose} />
      </Dialog>
      <Dialog opened={asked === 'rename'} onClose={onClose} title="Rename group">
        <RenameForm group={group} onClose={onClose} />
      </Dialog>
      <Dialog opened={asked === 'show'} onClose={onClose} title="Public name">
        <PublicNameForm group={group} onClose={onClose} />
      </Dialog>
      <Delete group={group} opened={asked === 'delete'} onClose={onClose} />
    </>
  );
}

function addedInWords(added: number, matched: number): string {
  const already = matched - added;
  if (already === 0) return `${countOf(added, 'contact')} added to the group.`;
  const members = already === 1 ? '1 was a member already' : `${number(already)} were members already`;
  return added === 0 ? `${members}.` : `${countOf(added, 'contact')} added to the group; ${members}.`;
}

function AddForm({ group: { id }, onClose }: { group: GroupRow; onClose: () => void }) {
  const add = useApiMutation(ADD);
  const members = useMembers();
  return (
    <DialogForm
      values={{ emails: '' }}
      hasOtherInput={members.picked.length > 0}
      mutation={add}
      save={async ({ emails }, form) => {
        const chosen = members.chosen(emails);
        if (chosen === undefined) return;
        const data = await add.run({ id, ...chosen });
        if (data === undefined) return;
        const { added, matched, unknownEmails } = data.addContactsToGroup;
        if (matched > 0) notifySuccess(addedInWords(added, matched));
        if (unknownEmails.length === 0) return onClose();
        // They stay, to be corrected.
        members.setPicked([]);
        form.setValues({ emails: unknownEmails.join('\n') });
        form.setFieldError('emails', unknownEmails.length === 1 ? 'This is not a contact' : 'These are not contacts');
      }}
      submit="Add"
      onClose={onClose}
    >
      {(form) => <MemberFields members={members} form={form} />}
    </DialogForm>
  );
}

function RenameForm({ group: { id, name }, onClose }: { group: GroupRow; onClose: () => void }) {
  const rename = useApiMutation(RENAME);
  return (
    <DialogForm
      values={{ name }}
      mutation={rename}
      save={async (values) => {
        if ((await rename.run({ id, name: values.name })) !== undefined) onClose();
      }}
      submit="Rename"
      onClose={onClose}
    >
      {(form) => <TextInput label="Name" data-autofocus autoComplete="off" {...form.getInputProps('name')} />}
    </DialogForm>
  );
}

/** The name shown on the unsubscribe page, where members can leave only this group. */
function PublicNameForm({ group: { id, publicName }, onClose }: { group: GroupRow; onClose: () => void }) {
  const set = useApiMutation(SET_PUBLIC_NAME);
  return (
    <DialogForm
      values={{ publicName: publicName ?? '' }}
      mutation={set}
      save={async (values) => {
        const given = values.publicName.trim();
        if ((await set.run({ id, publicName: given === '' ? null : given })) === undefined) return;
        notifySuccess(given === '' ? 'Members no longer see this group.' : `Members now see this group as “${given}”.`);
        onClose();
      }}
      submit="Save"
      onClose={onClose}
    >
      {(form) => (
        <TextInput
          label="Public name"
          description="Shown on the unsubscribe page, where members can leave this group and stay in others. Leave blank to hide the group there."
          placeholder="Monthly product news"
          maxLength={200}
          data-autofocus
          autoComplete="off"
          {...form.getInputProps('publicName')}
        />
      )}
    </DialogForm>
  );
}

function Delete({ group, opened, onClose }: { group: GroupRow; opened: boolean; onClose: () => void }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const remove = useApiMutation(DELETE);
  const confirm = async () => {
    if ((await remove.run({ id: group.id })) === undefined) return;
    notifySuccess(`${group.name} was deleted.`);
    void navigate({ to: '/p/$projectId/groups', params: { projectId }, replace: true });
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Delete this group?"
      action="Delete"
      confirmationText={group.name}
      running={remove.running}
      problem={remove.problem}
      onConfirm={() => void confirm()}
    >
      Its contacts are kept. Campaigns that include or exclude it can’t start until you remove it from them. Segments
      with conditions on it have no contacts, and journeys with them are paused, until you change the conditions. No
      contact enters a journey that starts when it joins this group.
    </Confirm>
  );
}
