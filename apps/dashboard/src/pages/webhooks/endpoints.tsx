import { Text } from '@mantine/core';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { cursorOf } from '../../data/paging.ts';
import { useLive } from '../../data/live.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { EndpointsQuery } from '../../generated/graphql.ts';
import { ButtonLink, RowLink } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { AnswerStrip } from './answer-strip.tsx';
import { acknowledgedShare, EndpointState } from './endpoint-state.tsx';

const ENDPOINTS = graphql(`
  query Endpoints($first: Int!, $after: String) {
    webhookEndpoints(first: $first, after: $after) {
      nodes {
        id
        url
        description
        events
        enabled
        health {
          state
          acknowledged
          failed
          hours {
            at
            acknowledged
            failed
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const ATTEMPTED = graphql(`
  subscription AnyDeliveryAttempted {
    webhookDeliveryAttempted {
      id
    }
  }
`);

const PAGE_SIZE = 25;

type Endpoint = EndpointsQuery['webhookEndpoints']['nodes'][number];

/** The webhook endpoint list. */
export function Endpoints() {
  const search = useSearch({ from: '/auth/p/$projectId/webhooks' });
  const endpoints = useApiQuery(ENDPOINTS, { first: PAGE_SIZE, after: cursorOf(search) ?? null });
  useLive(ATTEMPTED, {});
  const { id: projectId } = useProject();
  const add = usePermission('write') && (
    <ButtonLink to="/p/$projectId/webhooks/new" params={{ projectId }} leftSection={<IconPlus size={16} aria-hidden />}>
      Add endpoint
    </ButtonLink>
  );
  return (
    <Page
      title="Webhooks"
      about="Receive events in your applications. Each event is signed, posted to subscribed endpoints, and retried until acknowledged."
      actions={add}
    >
      <QueryResult of={endpoints} skeleton={<RowsSkeleton rows={3} />}>
        {({ webhookEndpoints: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No endpoints yet" icon={IconWebhook} action={add}>
              Add your application’s URL and choose the events it receives, such as bounces and unsubscribes.
            </Empty>
          ) : (
            <>
              <EndpointTable endpoints={nodes} />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </>
          )
        }
      </QueryResult>
    </Page>
  );
}

function EndpointTable({ endpoints }: { endpoints: Endpoint[] }) {
  const { id: projectId } = useProject();
  return (
    <DataTable
      label="Endpoints"
      rows={endpoints}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Endpoint',
          cell: ({ id, url, description }) => (
            <>
              <RowLink to="/p/$projectId/webhooks/$endpointId" params={{ projectId, endpointId: id }}>
                {description ?? url}
              </RowLink>
              {description !== null && (
                <Text size="xs" c="dimmed">
                  {url}
                </Text>
              )}
            </>
          ),
        },
        { title: 'Events', cell: ({ events }) => describeEventTypes(events), from: 'md', width: 180 },
        { title: 'Last 24 hours', cell: ({ health }) => <LastDay of={health} />, from: 'sm', width: 290 },
        { title: 'State', cell: (endpoint) => <EndpointState of={endpoint} />, width: 130 },
      ]}
    />
  );
}

export function describeEventTypes(events: readonly string[]): string {
  if (events.includes('*')) return 'All';
  return events.length === 1 ? (events[0] ?? '') : `${events.length} types`;
}

/** Of the same height, whatever it shows. */
function LastDay({ of }: { of: Endpoint['health'] }) {
  return (
    <>
      <AnswerStrip hours={of.hours} height={24} />
      <Text size="xs" c="dimmed" className="tabular nowrap">
        {acknowledgedShare(of)}
      </Text>
    </>
  );
}
