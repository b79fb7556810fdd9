import { Button, Select, Text } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { hasPermission } from '../../app/permissions.ts';
import { usePermission, useProject, useSession } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { MembersQuery, Role } from '../../generated/graphql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useCreateDialog } from '../../components/use-create-dialog.ts';
import { Page, Section } from '../../components/page.tsx';
import { QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { Invitations } from './invitations.tsx';
import { Invite } from './invite.tsx';
import { ROLES } from './roles.ts';

const MEMBERS = graphql(`
  query Members {
    members {
      role
      createdAt
      user {
        id
        name
        email
        twoFactorEnabled
      }
    }
  }
`);

const CHANGE_ROLE = graphql(`
  mutation ChangeRole($userId: ID!, $role: Role!) {
    memberChangeRole(userId: $userId, role: $role) {
      member {
        role
      }
    }
  }
`);

const REMOVE = graphql(`
  mutation RemoveMember($userId: ID!) {
    memberRemove(userId: $userId) {
      userId
    }
  }
`);

type Member = MembersQuery['members'][number];

/** Project members and invitations. */
export function Members() {
  const members = useApiQuery(MEMBERS, {});
  const canManage = usePermission('manage');
  const [inviting, setInviting] = useCreateDialog('manage');
  return (
    <Page
      title="Members"
      about="People with access to this project. Owners and admins can invite members and change roles."
      actions={
        canManage && (
          <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
            Invite
          </Button>
        )
      }
    >
      <QueryResult of={members} skeleton={<RowsSkeleton rows={3} />}>
        {(data) => <MemberTable members={data.members} />}
      </QueryResult>
      {canManage && (
        <Section title="Invitations">
          <Invitations />
        </Section>
      )}
      <Invite opened={inviting} onClose={() => setInviting(false)} />
    </Page>
  );
}

function MemberTable({ members }: { members: Member[] }) {
  const { me, reload } = useSession();
  const { name: projectName } = useProject();
  const mayChange = useMayChange();
  const [removing, setRemoving] = useState<Member>();
  const isLeaving = removing?.user.id === me.id;
  const remove = useApiMutation(REMOVE);
  const close = () => {
    remove.forget();
    setRemoving(undefined);
  };
  const confirm = async () => {
    if (removing === undefined || (await remove.run({ userId: removing.user.id })) === undefined) return;
    if (isLeaving) await reload();
    else notifySuccess(`${removing.user.name} was removed from ${projectName}.`);
    close();
  };
  return (
    <>
      <DataTable
        label="Members"
        rows={members}
        keyOf={({ user }) => user.id}
        columns={[
          { title: 'Person', cell: (member) => <Who member={member} isMe={member.user.id === me.id} /> },
          { title: 'Role', cell: (member) => <RoleOf member={member} />, width: 150, from: 'xs' },
          {
            title: 'Two-factor authentication',
            cell: ({ user }) => (user.twoFactorEnabled ? 'On' : <Text c="dimmed">Off</Text>),
            from: 'md',
          },
          { title: 'Since', cell: ({ createdAt }) => <When at={createdAt} />, from: 'md' },
          {
            title: 'Remove',
            silent: true,
            align: 'right',
            cell: (member) =>
              (member.user.id === me.id || mayChange(member)) && (
                <Button size="compact-sm" variant="subtle" color="red" onClick={() => setRemoving(member)}>
                  {member.user.id === me.id ? (
                    'Leave'
                  ) : (
                    <>
                      Remove<span className="visually-hidden"> {member.user.name}</span>
                    </>
                  )}
                </Button>
              ),
          },
        ]}
      />
      <Confirm
        opened={removing !== undefined}
        onClose={close}
        title={isLeaving ? 'Leave this project?' : 'Remove this member?'}
        action={isLeaving ? 'Leave' : 'Remove'}
        confirmationText={removing?.user.email ?? ''}
        running={remove.running}
        problem={remove.problem}
        onConfirm={() => void confirm()}
      >
        {isLeaving ? 'You lose' : `${removing?.user.name} loses`} access to {projectName} immediately. API keys that{' '}
        {isLeaving ? 'you' : 'they'} created for it and invitations that {isLeaving ? 'you' : 'they'} sent stop working.
        Everything else is kept.
      </Confirm>
    </>
  );
}

function Who({ member, isMe }: { member: Member; isMe: boolean }) {
  return (
    <>
      <Text size="sm" fw={550}>
        {member.user.name} {isMe && <span className="dimmed">(you)</span>}
      </Text>
      <Text size="xs" c="dimmed">
        {member.user.email}
      </Text>
    </>
  );
}

/** Whether a member may be removed, or get another role. Only owners can add or remove owners. */
function useMayChange(): (member: Member) => boolean {
  const canManage = usePermission('manage');
  const isOwner = usePermission('own');
  return ({ role }) => (role === 'owner' ? isOwner : canManage);
}

/** The role, editable with permission. */
function RoleOf({ member }: { member: Member }) {
  const { role, user } = member;
  const mayChange = useMayChange();
  const isOwner = usePermission('own');
  const { reload, me } = useSession();
  const change = useApiMutation(CHANGE_ROLE);
  const [asked, setAsked] = useState<Role>();
  if (!mayChange(member)) return ROLES[role].label;
  const isMe = user.id === me.id;
  const save = async (next: Role) => {
    if ((await change.run({ userId: user.id, role: next })) === undefined) return;
    setAsked(undefined);
    notifySuccess(`${user.name} is ${ROLES[next].asA} now.`);
    if (isMe) await reload();
  };
  const choose = (next: Role) => (isMe || endsAccess(role, next) ? setAsked(next) : void save(next));
  const close = () => {
    change.forget();
    setAsked(undefined);
  };
  return (
    <>
      <Select
        size="xs"
        w={116}
        aria-label={`Role of ${user.name}`}
        allowDeselect={false}
        value={role}
        disabled={change.running}
        data={Object.entries(ROLES)
          .filter(([value]) => value !== 'owner' || isOwner)
          .map(([value, { label }]) => ({ value, label }))}
        onChange={(next) => next !== null && next !== role && choose(next as Role)}
      />
      {asked === undefined && <FormProblem problem={change.problem} />}
      <Confirm
        opened={asked !== undefined}
        onClose={close}
        title={isMe ? 'Change your own role?' : `Change the role of ${user.name}?`}
        action="Change role"
        running={change.running}
        problem={change.problem}
        onConfirm={() => asked !== undefined && void save(asked)}
      >
        {asked !== undefined && <Consequences of={member} next={asked} isMe={isMe} />}
      </Confirm>
    </>
  );
}

/** Whether the change takes away what the member granted to others: keys and invitations. */
const endsAccess = (role: Role, next: Role) => hasPermission(role, 'manage') && !hasPermission(next, 'manage');

function Consequences({ of: { role, user }, next, isMe }: { of: Member; next: Role; isMe: boolean }) {
  const who = isMe ? 'you' : 'they';
  return (
    <>
      {isMe ? 'You become' : `${user.name} becomes`} {ROLES[next].asA}.
      {endsAccess(role, next) &&
        ` API keys that ${who} created for this project and invitations that ${who} sent stop working, for good.`}
      {isMe && ` Only ${role === 'owner' ? 'another owner' : 'an owner or another admin'} can undo the change.`}
    </>
  );
}
