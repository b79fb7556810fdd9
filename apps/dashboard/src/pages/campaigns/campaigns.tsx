import { Button, Group, Progress, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconSearchOff, IconSend } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { useShowSearch } from '../../data/show-search.ts';
import { graphql } from '../../generated/gql.ts';
import type { CampaignsQuery } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { formatShare } from '../../components/numbers.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { DialogForm, required } from '../../components/form.tsx';
import { ButtonLink, RowLink } from '../../components/link.tsx';
import { useCreateDialog } from '../../components/use-create-dialog.ts';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { deliveredShare, number, percent, reachOf, STATUS_LABELS } from './campaign-labels.ts';

const CAMPAIGNS = graphql(`
  query Campaigns($after: String, $status: CampaignStatus, $search: String) {
    campaigns(first: 50, after: $after, status: $status, search: $search) {
      nodes {
        id
        name
        subject
        status
        scheduledAt
        startedAt
        completedAt
        createdAt
        recipientCount
        engagement {
          sent
          delivered
          opened
          clicked
        }
        progress {
          planned
          claimed
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const CREATE = graphql(`
  mutation CreateCampaign($input: CreateCampaignInput!) {
    createCampaign(input: $input) {
      id
    }
  }
`);

type Campaign = CampaignsQuery['campaigns']['nodes'][number];

/** The campaign list. */
export function Campaigns() {
  const search = useSearch({ from: '/auth/p/$projectId/campaigns' });
  const { status, q } = search;
  const campaigns = useApiQuery(CAMPAIGNS, {
    after: cursorOf(search) ?? null,
    status: status ?? null,
    search: q ?? null,
  });
  const show = useShowSearch();
  const [creating, setCreating] = useCreateDialog('write');
  const canWrite = usePermission('write');
  const { id: projectId } = useProject();
  const create = canWrite && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New campaign
    </Button>
  );
  const actions = (
    <>
      <ButtonLink to="/p/$projectId/ab-tests" params={{ projectId }} variant="default">
        A/B tests
      </ButtonLink>
      {create}
    </>
  );
  return (
    <Page title="Campaigns" about="Newsletters and announcements, newest first." actions={actions}>
      <Stack gap="sm">
        <Group gap="sm">
          <SearchBox value={q ?? ''} label="Search campaigns" onSearch={(next) => show({ status, q: next })} />
          <Select
            aria-label="Status"
            placeholder="Any status"
            clearable
            w={150}
            data={Object.entries(STATUS_LABELS).map(([value, [, label]]) => ({ value, label }))}
            value={status ?? null}
            onChange={(next) => show({ status: next, q })}
          />
        </Group>
        <QueryResult of={campaigns} skeleton={<RowsSkeleton />}>
          {({ campaigns: { nodes, pageInfo } }) =>
            nodes.length === 0 ? (
              <NoCampaigns filtered={status !== undefined || q !== undefined} create={create} />
            ) : (
              <Stack>
                <CampaignTable campaigns={nodes} />
                <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
              </Stack>
            )
          }
        </QueryResult>
      </Stack>
      <Dialog opened={creating} onClose={() => setCreating(false)} title="New campaign">
        <NewCampaign onClose={() => setCreating(false)} />
      </Dialog>
    </Page>
  );
}

function NoCampaigns({ filtered, create }: { filtered: boolean; create: React.ReactNode }) {
  if (filtered) {
    return (
      <Empty
        title="No matching campaigns"
        icon={IconSearchOff}
        action={
          <ButtonLink to="." search={{} as never} variant="default">
            Clear filters
          </ButtonLink>
        }
      >
        No campaign matches these filters.
      </Empty>
    );
  }
  return (
    <Empty title="No campaigns yet" icon={IconSend} action={create}>
      A campaign sends one email to groups and segments and reports delivery and engagement.
    </Empty>
  );
}

function CampaignTable({ campaigns }: { campaigns: Campaign[] }) {
  return (
    <DataTable
      label="Campaigns"
      rows={campaigns}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Campaign', cell: (campaign) => <Name campaign={campaign} /> },
        { title: 'Status', width: 150, cell: (campaign) => <Status campaign={campaign} /> },
        {
          title: 'Recipients',
          from: 'sm',
          align: 'right',
          cell: ({ recipientCount }) => (recipientCount === 0 ? '–' : number(recipientCount)),
        },
        {
          title: 'Delivered',
          from: 'md',
          align: 'right',
          cell: ({ engagement }) => deliveredShare(engagement),
        },
        {
          title: 'Opened',
          from: 'md',
          align: 'right',
          cell: ({ engagement }) => percent(engagement.opened, reachOf(engagement).count),
        },
        {
          title: 'Clicked',
          from: 'md',
          align: 'right',
          cell: ({ engagement }) => percent(engagement.clicked, reachOf(engagement).count),
        },
        {
          title: 'When',
          untitled: true,
          from: 'sm',
          width: 170,
          cell: (campaign) => <Moment campaign={campaign} />,
        },
      ]}
    />
  );
}

function Name({ campaign: { id, name, subject } }: { campaign: Campaign }) {
  const { id: projectId } = useProject();
  return (
    <>
      <RowLink to="/p/$projectId/campaigns/$campaignId" params={{ projectId, campaignId: id }}>
        {name}
      </RowLink>
      <Text size="xs" c="dimmed">
        {subject ?? 'No subject yet'}
      </Text>
    </>
  );
}

function Status({ campaign: { status, recipientCount, progress } }: { campaign: Campaign }) {
  const [tone, label] = STATUS_LABELS[status];
  if (status !== 'sending' && status !== 'paused') return <StatusBadge tone={tone}>{label}</StatusBadge>;
  const open = progress.planned + progress.claimed;
  const done = recipientCount === 0 ? 0 : ((recipientCount - open) / recipientCount) * 100;
  return (
    <Stack gap={6} align="flex-start">
      <StatusBadge tone={tone}>{label}</StatusBadge>
      <Progress w={96} size="sm" value={done} aria-label={`${formatShare(done / 100)} done`} />
    </Stack>
  );
}

function Moment({ campaign: { status, scheduledAt, startedAt, completedAt, createdAt } }: { campaign: Campaign }) {
  if (status === 'scheduled' && scheduledAt !== null)
    return (
      <>
        Starts <When at={scheduledAt} />
      </>
    );
  if (startedAt === null)
    return (
      <>
        Created <When at={createdAt} />
      </>
    );
  if (completedAt !== null)
    return (
      <>
        Ended <When at={completedAt} />
      </>
    );
  return (
    <>
      Started <When at={startedAt} />
    </>
  );
}

function NewCampaign({ onClose }: { onClose: () => void }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  return (
    <DialogForm
      values={{ name: '' }}
      validate={{ name: required('Enter a name') }}
      mutation={create}
      save={async ({ name }) => {
        const data = await create.run({ input: { name } });
        if (data === undefined) return;
        void navigate({
          to: '/p/$projectId/campaigns/$campaignId',
          params: { projectId, campaignId: data.createCampaign.id },
        });
      }}
      submit="Create"
      onClose={onClose}
    >
      {(form) => (
        <TextInput
          label="Name"
          description="Not visible to recipients."
          placeholder="December newsletter"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
      )}
    </DialogForm>
  );
}
