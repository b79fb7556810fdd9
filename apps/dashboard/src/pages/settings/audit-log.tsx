import { Button, Stack, Text } from '@mantine/core';
import { IconDownload, IconHistory } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { pathOf } from '../../app/record-path.ts';
import { useProject } from '../../app/session.tsx';
import { downloadUrl } from '../../data/download.ts';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { AuditLogQuery } from '../../generated/graphql.ts';
import { TextLink } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { AuditChanges } from './audit-changes.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { filterOf } from './audit-search.ts';

const PAGE_SIZE = 50;

const AUDIT_LOG = graphql(`
  query AuditLog($first: Int!, $after: String, $filter: AuditLogFilter!) {
    auditLog(first: $first, after: $after, filter: $filter) {
      nodes {
        id
        actorId
        actorName
        actionLabel
        targetId
        targetKind
        targetName
        changes {
          field
          label
          before
          after
        }
        createdAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

type Entry = AuditLogQuery['auditLog']['nodes'][number];

/** The audit log. */
export function AuditLog() {
  const search = useSearch({ from: '/auth/p/$projectId/audit' });
  const { id: projectId } = useProject();
  const filter = filterOf(search);
  const log = useApiQuery(AUDIT_LOG, { first: PAGE_SIZE, after: cursorOf(search) ?? null, filter });
  const { actorId, action, targetKind, since, until } = filter;
  const file = { actor_id: actorId, action, target_kind: targetKind, since, until };
  return (
    <Page
      title="Audit log"
      about="Changes made by members and API keys in this project, newest first."
      actions={
        <Button
          component="a"
          href={downloadUrl(projectId, 'audit-log/export', file)}
          download
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Export
        </Button>
      }
    >
      <Stack gap="sm">
        <AuditFilters search={search} />
        <QueryResult of={log} skeleton={<RowsSkeleton rows={10} />}>
          {({ auditLog: { nodes, pageInfo } }) =>
            nodes.length === 0 ? (
              <None filtered={Object.keys(filter).length > 0} />
            ) : (
              <Stack>
                <Entries entries={nodes} />
                <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
              </Stack>
            )
          }
        </QueryResult>
      </Stack>
    </Page>
  );
}

function None({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <Empty title="No matches" icon={IconHistory}>
        No change matches these filters.
      </Empty>
    );
  }
  return (
    <Empty title="No changes yet" icon={IconHistory}>
      Changes to settings, content and members are recorded here with who made them and when.
    </Empty>
  );
}

function Entries({ entries }: { entries: Entry[] }) {
  return (
    <DataTable
      label="Audit log"
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Action', cell: (entry) => <What of={entry} /> },
        { title: 'Who', cell: (entry) => <Actor of={entry} />, from: 'sm' },
        { title: 'Object', cell: (entry) => <Target of={entry} />, from: 'md' },
        { title: 'When', untitled: true, cell: ({ createdAt }) => <When at={createdAt} />, width: 150 },
      ]}
    />
  );
}

function What({ of: { actionLabel, changes } }: { of: Entry }) {
  return (
    <>
      <Text size="sm" fw={550}>
        {actionLabel}
      </Text>
      <AuditChanges changes={changes} />
    </>
  );
}

function Target({ of: { targetId, targetKind, targetName } }: { of: Entry }) {
  const { id: projectId } = useProject();
  if (targetId === null) return null;
  const to = pathOf(projectId, targetId);
  const name = targetName ?? <span className="mono">{targetId}</span>;
  return (
    <>
      {to === undefined ? (
        <Text size="sm" className="breakable">
          {name}
        </Text>
      ) : (
        <TextLink to={to} size="sm" className="breakable">
          {name}
        </TextLink>
      )}
      <Text size="xs" c="dimmed">
        {targetKind}
      </Text>
    </>
  );
}

function Actor({ of: { actorName, actorId } }: { of: Entry }) {
  const isKey = actorId.startsWith('key_');
  if (actorName === null) return isKey ? 'Deleted API key' : 'Deleted user';
  return `${actorName}${isKey ? ' (API key)' : ''}`;
}
