import { Code, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { recordPath } from '../../app/record-path.ts';
import { useProject } from '../../app/session.tsx';
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
import { actionInWords } from './action-labels.ts';

const PAGE_SIZE = 50;

const AUDIT_LOG = graphql(`
  query AuditLog($first: Int!, $after: String) {
    auditLog(first: $first, after: $after) {
      nodes {
        id
        actorId
        actorName
        action
        targetId
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
  const log = useApiQuery(AUDIT_LOG, { first: PAGE_SIZE, after: cursorOf(search) ?? null });
  return (
    <Page title="Audit log" about="Changes made by members and API keys in this project, newest first.">
      <QueryResult of={log} skeleton={<RowsSkeleton rows={10} />}>
        {({ auditLog: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No changes yet" icon={IconHistory}>
              Changes to settings, content and members are recorded here with who made them and when.
            </Empty>
          ) : (
            <>
              <Entries entries={nodes} />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </>
          )
        }
      </QueryResult>
    </Page>
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
        { title: 'To', cell: ({ targetId }) => targetId !== null && <Target id={targetId} />, from: 'md' },
        { title: 'When', cell: ({ createdAt }) => <When at={createdAt} />, width: 150 },
      ]}
    />
  );
}

function Target({ id }: { id: string }) {
  const { id: projectId } = useProject();
  const to = recordPath(projectId, id);
  if (to === undefined) return <Code>{id}</Code>;
  return (
    <TextLink to={to} size="sm" className="mono">
      {id}
    </TextLink>
  );
}

function What({ of: entry }: { of: Entry }) {
  return (
    <Text size="sm" fw={550}>
      {actionInWords(entry.action)}
    </Text>
  );
}

function Actor({ of: { actorName, actorId } }: { of: Entry }) {
  const kind = actorId.startsWith('key_') ? 'API key' : 'Person';
  return actorName === null ? `${kind} that is gone` : `${actorName}${kind === 'API key' ? ' (API key)' : ''}`;
}
