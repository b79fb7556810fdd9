import { Button, Code, Text } from '@mantine/core';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { hasPermission } from '../../app/permissions.ts';
import { usePermission, useProject, useSession } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { ApiKeysQuery } from '../../generated/graphql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useCreateDialog } from '../../components/use-create-dialog.ts';
import { Page } from '../../components/page.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { CreateKey } from './create-key.tsx';

const API_KEYS = graphql(`
  query ApiKeys {
    apiKeys {
      id
      name
      last4
      scope
      allProjects
      projectIds
      createdById
      createdByName
      createdAt
      lastUsedAt
      revokedAt
    }
  }
`);

const REVOKE = graphql(`
  mutation RevokeApiKey($id: ID!) {
    apiKeyRevoke(id: $id) {
      apiKey {
        id
      }
    }
  }
`);

const REMOVE_FROM_PROJECT = graphql(`
  mutation RemoveApiKeyFromProject($id: ID!) {
    removeApiKeyFromProject(id: $id) {
      id
    }
  }
`);

type Key = ApiKeysQuery['apiKeys'][number];

/** The API key list. */
export function ApiKeys() {
  const keys = useApiQuery(API_KEYS, {});
  const [creating, setCreating] = useCreateDialog('manage');
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      Create API key
    </Button>
  );
  return (
    <Page
      title="API keys"
      about="Keys authenticate calls to the API. Use one per application, so that you can revoke each separately."
      actions={create}
    >
      <QueryResult of={keys} skeleton={<RowsSkeleton />}>
        {({ apiKeys }) =>
          apiKeys.length === 0 ? (
            <Empty title="No API keys yet" icon={IconKey} action={create}>
              Create a key to send email or manage contacts through the API. It is shown only once.
            </Empty>
          ) : (
            <KeyTable keys={apiKeys} />
          )
        }
      </QueryResult>
      <CreateKey opened={creating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function KeyTable({ keys }: { keys: Key[] }) {
  const [revoking, setRevoking] = useState<Key>();
  const [removing, setRemoving] = useState<Key>();
  const actionFor = useKeyAction();
  return (
    <>
      <DataTable
        label="API keys"
        rows={keys}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', cell: (key) => <KeyName of={key} /> },
          { title: 'Key', cell: ({ last4 }) => <Code className="nowrap">pr_…{last4}</Code>, from: 'sm' },
          { title: 'Scope', cell: ({ scope }) => SCOPES[scope], from: 'sm' },
          { title: 'Projects', cell: (key) => <Covered by={key} />, from: 'md' },
          {
            title: 'Last used',
            cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <When at={lastUsedAt} />),
            from: 'md',
          },
          { title: 'Created by', cell: ({ createdByName }) => createdByName ?? 'Operator', from: 'lg' },
          { title: 'Created', cell: ({ createdAt }) => <When at={createdAt} />, from: 'lg' },
          {
            title: 'Revoke',
            silent: true,
            align: 'right',
            cell: (key) => {
              const action = actionFor(key);
              if (action === undefined) return null;
              return (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color="red"
                  onClick={() => (action === 'revoke' ? setRevoking(key) : setRemoving(key))}
                >
                  {action === 'revoke' ? 'Revoke' : 'Remove'}
                  <span className="visually-hidden"> {key.name}</span>
                </Button>
              );
            },
          },
        ]}
      />
      <Revoke of={revoking} onClose={() => setRevoking(undefined)} />
      <RemoveFromProject of={removing} onClose={() => setRemoving(undefined)} />
    </>
  );
}

/**
 * A key's creator, or a manager of every project it covers, can revoke it. Others can remove it from projects they
 * manage.
 */
function useKeyAction(): (key: Key) => 'revoke' | 'remove' | undefined {
  const { me, projects } = useSession();
  const canManage = usePermission('manage');
  return (key) => {
    if (key.revokedAt !== null || !canManage) return undefined;
    if (key.createdById === me.id) return 'revoke';
    // Only the server knows whether the user owns every project.
    if (key.allProjects) return projects.every(({ role }) => hasPermission(role, 'own')) ? 'revoke' : undefined;
    const managed = projects.filter(({ role }) => hasPermission(role, 'manage')).map(({ id }) => id);
    return key.projectIds.every((id) => managed.includes(id)) ? 'revoke' : 'remove';
  };
}

const SCOPES = { full: 'Full access', sending: 'Sending access' } as const;

function KeyName({ of: { name, revokedAt } }: { of: Key }) {
  return (
    <Text size="sm" fw={550} c={revokedAt === null ? undefined : 'dimmed'}>
      {name} {revokedAt !== null && <StatusBadge tone="bad">Revoked</StatusBadge>}
    </Text>
  );
}

/** The covered projects the user can see. */
function Covered({ by: { allProjects, projectIds } }: { by: Key }) {
  const { projects } = useSession();
  if (allProjects) return 'All, including future projects';
  const names = projectIds.map((id) => projects.find((project) => project.id === id)?.name ?? 'another');
  return names.join(', ');
}

function Revoke({ of: key, onClose }: { of: Key | undefined; onClose: () => void }) {
  const revoke = useApiMutation(REVOKE);
  const confirm = async () => {
    if (key === undefined || (await revoke.run({ id: key.id })) === undefined) return;
    notifySuccess(`${key.name} was revoked.`);
    onClose();
  };
  return (
    <Confirm
      opened={key !== undefined}
      onClose={onClose}
      title="Revoke this API key?"
      action="Revoke"
      confirmationText={key?.name ?? ''}
      running={revoke.running}
      problem={revoke.problem}
      onConfirm={() => void confirm()}
    >
      Applications using it stop working immediately. This cannot be undone.
    </Confirm>
  );
}

function RemoveFromProject({ of: key, onClose }: { of: Key | undefined; onClose: () => void }) {
  const remove = useApiMutation(REMOVE_FROM_PROJECT);
  const { name: projectName } = useProject();
  const confirm = async () => {
    if (key === undefined || (await remove.run({ id: key.id })) === undefined) return;
    notifySuccess(`${key.name} no longer has access to ${projectName}.`);
    onClose();
  };
  return (
    <Confirm
      opened={key !== undefined}
      onClose={onClose}
      title="Remove this key from the project?"
      action="Remove"
      confirmationText={key?.name ?? ''}
      running={remove.running}
      problem={remove.problem}
      onConfirm={() => void confirm()}
    >
      It loses access to {projectName} immediately. It keeps working in projects you do not manage.
    </Confirm>
  );
}
