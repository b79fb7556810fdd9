import { Button, Code, Group, Select, Text } from '@mantine/core';
import { IconChecks } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { DeliveriesQuery, DeliveryState } from '../../generated/graphql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { RowLink } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { ReplayFailed } from './replay-failed.tsx';
import type { DeliverySearch } from './routes.tsx';
import { STATES } from './states.ts';

const DELIVERIES = graphql(`
  query Deliveries($endpointId: ID!, $state: DeliveryState, $eventType: String, $first: Int!, $after: String) {
    webhookDeliveries(endpointId: $endpointId, state: $state, eventType: $eventType, first: $first, after: $after) {
      nodes {
        id
        eventType
        state
        attemptCount
        nextAttemptAt
        replayOf
        createdAt
        attempts {
          status
          error
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    webhookEventTypes {
      name
    }
  }
`);

const PAGE_SIZE = 25;

type Delivery = DeliveriesQuery['webhookDeliveries']['nodes'][number];

/** An endpoint's deliveries, newest first. */
export function Deliveries({ endpointId }: { endpointId: string }) {
  const search = useSearch({ from: '/auth/p/$projectId/webhooks/$endpointId' });
  const canWrite = usePermission('write');
  const [replaying, setReplaying] = useState(false);
  const read = useApiQuery(DELIVERIES, {
    endpointId,
    state: search.state ?? null,
    eventType: search.type ?? null,
    first: PAGE_SIZE,
    after: cursorOf(search) ?? null,
  });
  return (
    <Section
      title="Deliveries"
      actions={
        <Group gap="xs">
          <Filters search={search} types={read.data?.webhookEventTypes.map(({ name }) => name) ?? []} />
          {canWrite && (
            <Button variant="default" size="xs" onClick={() => setReplaying(true)}>
              Replay failed…
            </Button>
          )}
        </Group>
      }
    >
      <QueryResult of={read} skeleton={<RowsSkeleton />}>
        {({ webhookDeliveries: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Nothing filtered={search.state !== undefined || search.type !== undefined} />
          ) : (
            <>
              <DeliveryTable deliveries={nodes} endpointId={endpointId} />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </>
          )
        }
      </QueryResult>
      <ReplayFailed endpointId={endpointId} opened={replaying} onClose={() => setReplaying(false)} />
    </Section>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <Empty title="No matches" icon={IconChecks}>
      No delivery has that status and event type. Clear a filter to see more.
    </Empty>
  ) : (
    <Empty title="No deliveries yet" icon={IconChecks}>
      Deliveries appear here when an event this endpoint subscribes to occurs. Send a test event to check that it works.
    </Empty>
  );
}

function Filters({ search, types }: { search: DeliverySearch; types: string[] }) {
  const navigate = useNavigate({ from: '/p/$projectId/webhooks/$endpointId' });
  const filter = (change: Partial<DeliverySearch>) =>
    void navigate({ search: ({ after: _, ...rest }) => ({ ...rest, ...change }), replace: true });
  return (
    <>
      <Select
        size="xs"
        w={130}
        aria-label="State"
        placeholder="Any state"
        clearable
        value={search.state ?? null}
        data={Object.entries(STATES).map(([value, { label }]) => ({ value, label }))}
        onChange={(state) => filter({ state: (state ?? undefined) as DeliveryState | undefined })}
      />
      <Select
        size="xs"
        w={170}
        aria-label="Event type"
        placeholder="Any event"
        clearable
        searchable
        value={search.type ?? null}
        data={types}
        onChange={(type) => filter({ type: type ?? undefined })}
      />
    </>
  );
}

function DeliveryTable({ deliveries, endpointId }: { deliveries: Delivery[]; endpointId: string }) {
  const { id: projectId } = useProject();
  return (
    <DataTable
      label="Deliveries"
      rows={deliveries}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Event',
          cell: ({ id, eventType, replayOf }) => (
            <RowLink
              to="/p/$projectId/webhooks/$endpointId/deliveries/$deliveryId"
              params={{ projectId, endpointId, deliveryId: id }}
            >
              {eventType}
              {replayOf !== null && <span className="dimmed"> (replay)</span>}
            </RowLink>
          ),
        },
        {
          title: 'State',
          cell: ({ state }) => <StatusBadge tone={STATES[state].tone}>{STATES[state].label}</StatusBadge>,
          width: 130,
        },
        { title: 'Last response', cell: ({ attempts }) => <LastAnswer of={attempts.at(-1)} />, from: 'sm' },
        { title: 'Attempts', cell: ({ attemptCount }) => attemptCount, align: 'right', from: 'md', width: 90 },
        {
          title: 'Next attempt',
          cell: ({ nextAttemptAt, state }) =>
            nextAttemptAt !== null && state === 'retried' ? <When at={nextAttemptAt} /> : '–',
          from: 'md',
          width: 130,
        },
        { title: 'When', untitled: true, cell: ({ createdAt }) => <When at={createdAt} />, width: 130, from: 'sm' },
      ]}
    />
  );
}

function LastAnswer({ of: attempt }: { of: Delivery['attempts'][number] | undefined }) {
  if (attempt === undefined) return <Text c="dimmed">None yet</Text>;
  return (
    <>
      {attempt.status !== null && <Code>{attempt.status}</Code>} {attempt.error}
    </>
  );
}
