import { Button, Group, Pill, Select, Stack, TextInput } from '@mantine/core';
import { IconBan, IconDownload, IconFileImport, IconPlus, IconSearchOff } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { downloadUrl } from '../../data/download.ts';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { SuppressionsQuery } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { FilterPill, formatTimeRange } from '../../components/filter-pill.tsx';
import { DialogForm, required } from '../../components/form.tsx';
import { ButtonLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { useShowSearch } from '../../data/show-search.ts';
import { ImportSuppressions } from './import-suppressions.tsx';
import { explainReason, REASON_LABELS, type Reason, Subscription } from './subscription.tsx';

const SUPPRESSIONS = graphql(`
  query Suppressions(
    $after: String
    $email: String
    $reason: SuppressionReason
    $createdAfter: DateTime
    $createdBefore: DateTime
  ) {
    suppressions(
      first: 50
      after: $after
      email: $email
      reason: $reason
      createdAfter: $createdAfter
      createdBefore: $createdBefore
    ) {
      nodes {
        id
        email
        reason
        origin
        addedByName
        createdAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const ADD = graphql(`
  mutation AddSuppression($input: AddSuppressionInput!) {
    addSuppression(input: $input) {
      created
    }
  }
`);

const REMOVE = graphql(`
  mutation RemoveSuppression($id: ID!) {
    suppressionRemove(id: $id) {
      deletedId
    }
  }
`);

type Row = SuppressionsQuery['suppressions']['nodes'][number];

const explain = ({ reason, origin, addedByName }: Row) => explainReason(reason, origin, addedByName);

/** The suppression list. */
export function Suppressions() {
  const search = useSearch({ from: '/auth/p/$projectId/suppressions' });
  const { email, reason, since, until } = search;
  const rows = useApiQuery(SUPPRESSIONS, {
    after: cursorOf(search) ?? null,
    email: email ?? null,
    reason: reason ?? null,
    createdAfter: since ?? null,
    createdBefore: until ?? null,
  });
  const show = useShowSearch();
  const [adding, setAdding] = useState(false);
  const [importing, setImporting] = useState(false);
  const { id: projectId } = useProject();
  const canWrite = usePermission('write');
  const change = (part: Record<string, string | null | undefined>) => show({ email, reason, since, until, ...part });
  const add = canWrite && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      Add address
    </Button>
  );
  return (
    <Page
      title="Suppressions"
      about="Addresses this project never sends to. They stay suppressed even if the contact is deleted."
      actions={
        <>
          <Button
            component="a"
            href={downloadUrl(projectId, 'suppressions/export', { reason: reason ?? null })}
            download
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            Export
          </Button>
          {canWrite && (
            <Button
              variant="default"
              leftSection={<IconFileImport size={16} aria-hidden />}
              onClick={() => setImporting(true)}
            >
              Import
            </Button>
          )}
          {add}
        </>
      }
    >
      <Stack gap="sm">
        <Group gap="xs">
          <SearchBox value={email ?? ''} label="Full address" onSearch={(next) => change({ email: next })} />
          <Select
            aria-label="Reason"
            placeholder="Any reason"
            clearable
            w={170}
            data={Object.entries(REASON_LABELS).map(([value, label]) => ({ value, label }))}
            value={reason ?? null}
            onChange={(next) => change({ reason: next })}
          />
        </Group>
        {since !== undefined && (
          <Pill.Group aria-label="Active filters">
            <FilterPill
              label={`Added ${formatTimeRange(search)}`}
              onRemove={() => change({ since: undefined, until: undefined })}
            />
          </Pill.Group>
        )}
        <QueryResult of={rows} skeleton={<RowsSkeleton />}>
          {({ suppressions: { nodes, pageInfo } }) =>
            nodes.length === 0 ? (
              <None filtered={email !== undefined || reason !== undefined || since !== undefined} />
            ) : (
              <Stack>
                <Table rows={nodes} />
                <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
              </Stack>
            )
          }
        </QueryResult>
      </Stack>
      <Dialog opened={adding} onClose={() => setAdding(false)} title="Suppress address">
        <AddForm onClose={() => setAdding(false)} />
      </Dialog>
      <ImportSuppressions opened={importing} onClose={() => setImporting(false)} />
    </Page>
  );
}

function None({ filtered }: { filtered: boolean }) {
  if (!filtered) {
    return (
      <Empty title="No suppressions yet" icon={IconBan}>
        Addresses that unsubscribe, complain or bounce are added automatically and never emailed again.
      </Empty>
    );
  }
  return (
    <Empty
      title="No matches"
      icon={IconSearchOff}
      action={
        <ButtonLink to="." search={{} as never} variant="default">
          Clear filters
        </ButtonLink>
      }
    >
      No suppression matches these filters. Enter the full address.
    </Empty>
  );
}

function Table({ rows }: { rows: Row[] }) {
  const [removing, setRemoving] = useState<Row>();
  const remove = useApiMutation(REMOVE);
  const canWrite = usePermission('write');
  const confirm = async () => {
    if (removing === undefined || (await remove.run({ id: removing.id })) === undefined) return;
    notifySuccess(
      `${removing.email} was removed. It can receive email again unless it is suppressed for another reason.`,
    );
    setRemoving(undefined);
  };
  return (
    <>
      <DataTable
        label="Suppressions"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Address',
            cell: ({ email }) => email,
          },
          { title: 'Reason', from: 'sm', width: 140, cell: ({ reason }) => <Subscription status={reason} /> },
          { title: 'Description', from: 'md', cell: (row) => explain(row) },
          { title: 'Since', from: 'sm', width: 150, cell: ({ createdAt }) => <When at={createdAt} /> },
          {
            title: 'Remove',
            silent: true,
            align: 'right',
            width: 100,
            cell: (row) =>
              canWrite && (
                <Button size="compact-sm" variant="subtle" color="gray" onClick={() => setRemoving(row)}>
                  Remove<span className="visually-hidden"> {row.email}</span>
                </Button>
              ),
          },
        ]}
      />
      <Confirm
        opened={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title="Remove this suppression?"
        action="Remove"
        {...(removing?.reason === 'complained' ? { confirmationText: removing.email } : {})}
        running={remove.running}
        problem={remove.problem}
        onConfirm={() => void confirm()}
      >
        {removing && explain(removing)} Sending to people who opted out, or to addresses that do not exist, damages your
        sender reputation.
      </Confirm>
    </>
  );
}

function AddForm({ onClose }: { onClose: () => void }) {
  const add = useApiMutation(ADD);
  return (
    <DialogForm
      values={{ email: '', reason: 'manual' as Reason }}
      validate={{ email: required('Enter an email address') }}
      mutation={add}
      save={async (input) => {
        const data = await add.run({ input });
        if (data === undefined) return;
        notifySuccess(
          data.addSuppression.created ? `${input.email} is suppressed.` : 'The address is already suppressed.',
        );
        onClose();
      }}
      submit="Suppress"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput label="Address" type="email" autoComplete="off" data-autofocus {...form.getInputProps('email')} />
          <Select
            label="Reason"
            allowDeselect={false}
            data={Object.entries(REASON_LABELS).map(([value, label]) => ({ value, label }))}
            {...form.getInputProps('reason')}
          />
        </>
      )}
    </DialogForm>
  );
}
