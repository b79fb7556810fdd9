import { labelFor } from '@postroom/csv';
import { Alert, Button, Card, Progress, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconDownload, IconPlayerStop } from '@tabler/icons-react';
import { useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { downloadUrl } from '../../data/download.ts';
import { useLive } from '../../data/live.ts';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { CustomFieldType, ImportQuery } from '../../generated/graphql.ts';
import { countOf, formatShare } from '../../components/numbers.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { type DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { Stat, Stats } from '../../components/stats.tsx';
import { TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { workflowItem } from '../../components/workflow-link.tsx';
import { encodingLabel, fileSize, isUnderWay, KINDS, STATUS_LABELS } from './import-labels.ts';
import { IMPORT_PROGRESS } from './progress.ts';
import { Causes } from './causes.tsx';
import { DryRun } from './dry-run.tsx';
import { CUSTOM_FIELDS, FIELD_TYPES } from '../audience/field-values.tsx';
import { REASON_LABELS } from '../audience/subscription.tsx';

const IMPORT = graphql(`
  query Import($id: ID!, $after: String) {
    import(id: $id) {
      id
      kind
      reason
      status
      progress
      error
      fileName
      size
      encoding
      separator
      onConflict
      dryRun
      groupId
      groupName
      cancelRequestedAt
      createdAt
      startedAt
      finishedAt
      workflowUrl
      counts {
        rows
        created
        updated
        unchanged
        duplicates
        suppressed
        invalid
        incomplete
      }
      skipInvalid
      fileExpiresAt
      executedAsId
      causes {
        field
        message
        value
        rows
        firstLine
        fix
      }
      columns {
        name
        fields
        type
        isNew
      }
      errors(first: 50, after: $after) {
        nodes {
          line
          field
          message
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`);

const CANCEL = graphql(`
  mutation CancelImport($id: ID!) {
    cancelImport(id: $id) {
      id
    }
  }
`);

type ImportRow = ImportQuery['import'];

/** One import: progress, results and row errors. */
export function Import() {
  const { importId } = useParams({ from: '/auth/p/$projectId/imports/$importId' });
  const search = useSearch({ from: '/auth/p/$projectId/imports/$importId' });
  const { id: projectId } = useProject();
  const read = useApiQuery(IMPORT, { id: importId, after: cursorOf(search) ?? null });
  const row = read.data?.import;
  useLive(IMPORT_PROGRESS, { id: importId }, { pause: row === undefined || !isUnderWay(row.status) });
  return (
    <Page
      title={row?.fileName ?? 'Import'}
      about={row?.dryRun === true ? 'Dry run: what the import would do.' : undefined}
      back={
        <TextLink to="/p/$projectId/imports" params={{ projectId }} size="sm">
          <BackLabel>Imports</BackLabel>
        </TextLink>
      }
      mark={
        row !== undefined && (
          <StatusBadge tone={STATUS_LABELS[row.status][0]}>{STATUS_LABELS[row.status][1]}</StatusBadge>
        )
      }
      actions={row !== undefined && <Commands row={row} />}
    >
      <QueryResult of={read}>
        {({ import: shown }) => (
          <Stack gap="lg">
            <Course row={shown} />
            <DryRun row={shown} />
            <Counts row={shown} />
            <Causes row={shown} />
            {shown.errors.nodes.length > 0 && (
              <Section
                title="Row errors"
                actions={
                  <Button
                    component="a"
                    href={downloadUrl(projectId, `imports/${shown.id}/errors`)}
                    download
                    variant="default"
                    leftSection={<IconDownload size={16} aria-hidden />}
                  >
                    Download
                  </Button>
                }
              >
                <Stack>
                  <DataTable
                    label="Row errors"
                    rows={shown.errors.nodes}
                    keyOf={({ line, field }) => `${line} ${field}`}
                    columns={[
                      { title: 'Error', cell: ({ message }) => message },
                      {
                        title: 'Column',
                        width: 220,
                        from: 'sm',
                        cell: ({ field }) => <span className="breakable">{columnOf(field, shown.columns)}</span>,
                      },
                      { title: 'Line', width: 90, align: 'right', cell: ({ line }) => line.toLocaleString() },
                    ]}
                  />
                  <Pager search={search} pageInfo={shown.errors.pageInfo} shown={shown.errors.nodes.length} />
                </Stack>
              </Section>
            )}
            <Settings row={shown} />
          </Stack>
        )}
      </QueryResult>
    </Page>
  );
}

function Course({ row: { status, progress, error, cancelRequestedAt, fileName } }: { row: ImportRow }) {
  if (status === 'failed') {
    return (
      <Alert
        color="red"
        icon={<IconAlertTriangle aria-hidden />}
        title="The file could not be imported. Nothing was saved."
      >
        {error}
      </Alert>
    );
  }
  if (!isUnderWay(status)) return null;
  const share = formatShare(progress);
  const words =
    cancelRequestedAt !== null
      ? 'Stopping after the current rows.'
      : status === 'queued'
        ? 'Waiting for a worker to start it.'
        : `${share} of the file processed. You can leave this page; the import continues.`;
  return (
    <Card>
      <Stack gap="sm">
        <Text fw={550}>{words}</Text>
        <Progress size="lg" value={progress * 100} animated aria-label={`${fileName ?? 'Import'}: ${share}`} />
      </Stack>
    </Card>
  );
}

function Counts({ row: { kind, counts, dryRun } }: { row: ImportRow }) {
  const { rows, created, updated, unchanged, duplicates, suppressed, invalid, incomplete } = counts;
  const notImported = (
    <Stat
      label={dryRun ? 'Invalid' : 'Not imported'}
      value={invalid}
      tone={invalid > 0 ? 'bad' : undefined}
      detail={invalid > 0 ? 'see below' : 'no errors'}
    />
  );
  const label = dryRun ? `Preview of ${countOf(rows, 'row')}` : 'Results';
  if (kind === 'suppressions') {
    return (
      <Stats label={label}>
        <Stat label="New" value={created} detail={`of ${countOf(rows, 'row')}`} />
        <Stat label="Unchanged" value={unchanged} detail="already suppressed" />
        <Stat label="Duplicates" value={duplicates} detail="first row used" />
        {notImported}
      </Stats>
    );
  }
  return (
    <Stats label={label}>
      <Stat label="New" value={created} detail={`of ${countOf(rows, 'row')}`} />
      <Stat label="Changed" value={updated} detail="already contacts" />
      <Stat label="Unchanged" value={unchanged} detail="already contacts" />
      <Stat label="Duplicates" value={duplicates} detail="first row used" />
      <Stat label="Suppressed" value={suppressed} detail="not imported" />
      <Stat label="Incomplete" value={incomplete} detail="imported without a value" />
      {notImported}
    </Stats>
  );
}

const SEPARATORS: Record<string, string> = { ',': 'Comma', ';': 'Semicolon', '\t': 'Tab', '|': 'Pipe' };

function Settings({ row }: { row: ImportRow }) {
  const { id: projectId } = useProject();
  const fields = useApiQuery(CUSTOM_FIELDS, {}, { pause: row.columns.length === 0 }).data?.customFields.nodes ?? [];
  // A dry run creates no fields, so a new one is called what the import would call it.
  const targetOf = (field: string, { name, index, isNew }: { name: string; index: number; isNew: boolean }) =>
    BUILT_IN[field] ??
    fields.find(({ key }) => key === keyOf(field))?.label ??
    (isNew ? labelFor(name, index) : keyOf(field));
  const {
    kind,
    reason,
    columns,
    size,
    encoding,
    separator,
    onConflict,
    skipInvalid,
    groupId,
    groupName,
    startedAt,
    finishedAt,
    createdAt,
  } = row;
  const group: ReactNode =
    groupId === null ? (
      (groupName ?? 'None')
    ) : (
      <TextLink to="/p/$projectId/groups/$groupId" params={{ projectId, groupId }} size="sm">
        {groupName ?? 'View group'}
      </TextLink>
    );
  const ofContacts: DescriptionItem[] = [
    ['Existing contacts', onConflict === 'update' ? 'Update with the file’s values' : 'Keep unchanged'],
    ['Invalid values', skipInvalid ? 'Skip the row' : 'Import without them'],
    ['Added to group', group],
  ];
  return (
    <Section title="Setup">
      <Stack>
        <Card>
          <DescriptionList
            items={[
              ['Size', fileSize(size)],
              encoding !== null && ['Encoding', encodingLabel(encoding)],
              separator !== null && ['Separator', SEPARATORS[separator] ?? separator],
              ['Imported as', KINDS[kind]],
              ...(reason === null
                ? ofContacts
                : [['Reason of rows without one', REASON_LABELS[reason]] satisfies DescriptionItem]),
              ['Started', <When key="begun" at={startedAt ?? createdAt} />],
              finishedAt !== null && ['Ended', <When key="ended" at={finishedAt} />],
              workflowItem(row.workflowUrl),
            ]}
          />
        </Card>
        {columns.length > 0 && (
          <DataTable
            label="Columns"
            rows={columns.map((column, index) => ({ ...column, index }))}
            keyOf={({ index }) => String(index)}
            columns={[
              { title: 'File column', cell: ({ name }) => name },
              {
                title: 'Imported as',
                cell: (column) =>
                  column.fields.length === 0
                    ? 'Not imported'
                    : column.fields.map((field) => targetOf(field, column)).join(', '),
              },
              {
                title: 'Type',
                from: 'sm',
                width: 180,
                cell: ({ type, isNew }) =>
                  type === null ? '' : `${FIELD_TYPES[type as CustomFieldType]}${isNew ? ', new field' : ''}`,
              },
            ]}
          />
        )}
      </Stack>
    </Section>
  );
}

const BUILT_IN: Record<string, string> = { email: 'Address', name: 'Name', reason: 'Reason', row: 'Row' };

/** What a field is called in the file. */
const columnOf = (field: string, columns: ImportRow['columns']): string =>
  columns.find(({ fields }) => fields.includes(field))?.name ?? BUILT_IN[field] ?? keyOf(field);

const keyOf = (field: string) => field.replace(/^customFields\./, '');

function Commands({ row: { id, kind, status, cancelRequestedAt, fileName } }: { row: ImportRow }) {
  const [asking, setAsking] = useState(false);
  const cancel = useApiMutation(CANCEL);
  const canWrite = usePermission('write');
  const confirm = async () => {
    if ((await cancel.run({ id })) === undefined) return;
    notifySuccess('The import stops after the current rows.');
    setAsking(false);
  };
  return (
    <>
      {canWrite && isUnderWay(status) && cancelRequestedAt === null && (
        <Button
          variant="default"
          leftSection={<IconPlayerStop size={16} aria-hidden />}
          onClick={() => setAsking(true)}
        >
          Cancel
        </Button>
      )}
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Cancel the import of ${fileName ?? 'this file'}?`}
        action="Cancel the import"
        running={cancel.running}
        problem={cancel.problem}
        onConfirm={() => void confirm()}
      >
        {KINDS[kind]} imported so far are kept. The rest of the file is skipped.
      </Confirm>
    </>
  );
}
