import { Progress, Stack, Text } from '@mantine/core';
import { IconFileImport } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { useLive } from '../../data/live.ts';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { ImportsQuery } from '../../generated/graphql.ts';
import { formatShare } from '../../components/numbers.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { ButtonLink, RowLink } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { IMPORT_PROGRESS } from './progress.ts';
import { isUnderWay, KINDS, STATUS_LABELS } from './import-labels.ts';

const IMPORTS = graphql(`
  query Imports($after: String) {
    imports(first: 50, after: $after) {
      nodes {
        id
        kind
        status
        progress
        fileName
        dryRun
        createdAt
        counts {
          rows
          created
          updated
          invalid
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

type Import = ImportsQuery['imports']['nodes'][number];

/** The import list. */
export function Imports() {
  const search = useSearch({ from: '/auth/p/$projectId/imports' });
  const imports = useApiQuery(IMPORTS, { after: cursorOf(search) ?? null });
  const { id: projectId } = useProject();
  const canWrite = usePermission('write');
  const nodes = imports.data?.imports.nodes ?? [];
  // One stream refetches the whole list; concurrent imports are rare.
  const running = nodes.find(({ status }) => isUnderWay(status));
  useLive(IMPORT_PROGRESS, { id: running?.id ?? '' }, { pause: running === undefined });
  const start = canWrite && (
    <ButtonLink
      to="/p/$projectId/imports/new"
      params={{ projectId }}
      leftSection={<IconFileImport size={16} aria-hidden />}
    >
      Import contacts
    </ButtonLink>
  );
  return (
    <Page title="Imports" about="Files of contacts and suppressions you imported, newest first." actions={start}>
      <QueryResult of={imports} skeleton={<RowsSkeleton />}>
        {({ imports: { pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No imports yet" icon={IconFileImport} action={start}>
              Upload a CSV file exported from a spreadsheet or another email service.
            </Empty>
          ) : (
            <Stack>
              <ImportTable imports={nodes} />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </Stack>
          )
        }
      </QueryResult>
    </Page>
  );
}

const count = (value: number) => value.toLocaleString();

function ImportTable({ imports }: { imports: Import[] }) {
  return (
    <DataTable
      label="Imports"
      rows={imports}
      keyOf={({ id }) => id}
      columns={[
        { title: 'File', cell: (row) => <File of={row} /> },
        { title: 'Status', width: 150, cell: (row) => <Status of={row} /> },
        { title: 'Rows', from: 'sm', align: 'right', cell: ({ counts }) => count(counts.rows) },
        { title: 'New', from: 'sm', align: 'right', cell: ({ counts }) => count(counts.created) },
        { title: 'Changed', from: 'md', align: 'right', cell: ({ counts }) => count(counts.updated) },
        { title: 'Not imported', from: 'md', align: 'right', cell: ({ counts }) => count(counts.invalid) },
        { title: 'Started', from: 'sm', width: 130, cell: ({ createdAt }) => <When at={createdAt} /> },
      ]}
    />
  );
}

function File({ of: { id, kind, fileName, dryRun } }: { of: Import }) {
  const { id: projectId } = useProject();
  return (
    <>
      <RowLink to="/p/$projectId/imports/$importId" params={{ projectId, importId: id }}>
        {fileName ?? 'Untitled file'}
      </RowLink>
      {(dryRun || kind !== 'contacts') && (
        <Text size="xs" c="dimmed">
          {[...(kind === 'contacts' ? [] : [KINDS[kind]]), ...(dryRun ? ['Dry run: nothing saved'] : [])].join('. ')}
        </Text>
      )}
    </>
  );
}

function Status({ of: { status, progress, fileName } }: { of: Import }) {
  const [tone, label] = STATUS_LABELS[status];
  if (status !== 'running') return <StatusBadge tone={tone}>{label}</StatusBadge>;
  return (
    <Stack gap={4}>
      <StatusBadge tone={tone}>{label}</StatusBadge>
      <Progress size="sm" value={progress * 100} aria-label={`${fileName ?? 'Import'}: ${formatShare(progress)}`} />
    </Stack>
  );
}
