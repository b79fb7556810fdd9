import { Group, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { usePermission } from '../../app/session.tsx';
import { useLive } from '../../data/live.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { TextLink } from '../../components/link.tsx';
import { Stat, Stats } from '../../components/stats.tsx';
import { formatDuration } from '../../components/numbers.ts';
import { BackLabel, Page } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { Deliveries } from './deliveries.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointHealth } from './endpoint-health.tsx';
import { EndpointState } from './endpoint-state.tsx';
import { Secret } from './secret.tsx';
import { ENDPOINT, type Endpoint } from './endpoint-row.ts';

const ATTEMPTED = graphql(`
  subscription DeliveryAttempted($endpointId: ID!) {
    webhookDeliveryAttempted(endpointId: $endpointId) {
      id
    }
  }
`);

/** One endpoint: health, signing secret and live deliveries. */
export function EndpointPage() {
  const { projectId, endpointId } = useParams({ from: '/auth/p/$projectId/webhooks/$endpointId' });
  const read = useApiQuery(ENDPOINT, { id: endpointId });
  useLive(ATTEMPTED, { endpointId });
  const endpoint = read.data?.webhookEndpoint;
  return (
    <Page
      title={endpoint?.description ?? (endpoint === undefined ? 'Endpoint' : hostOf(endpoint.url))}
      about={endpoint?.url}
      mark={endpoint !== undefined && <EndpointState of={endpoint} />}
      actions={endpoint !== undefined && <EndpointActions endpoint={endpoint} />}
      back={
        <TextLink to="/p/$projectId/webhooks" params={{ projectId }} size="sm">
          <BackLabel>Webhooks</BackLabel>
        </TextLink>
      }
    >
      <QueryResult of={read}>{(data) => <Content endpoint={data.webhookEndpoint} />}</QueryResult>
    </Page>
  );
}

const hostOf = (url: string) => URL.parse(url)?.host ?? url;

function Content({ endpoint }: { endpoint: Endpoint }) {
  const canManage = usePermission('manage');
  return (
    <>
      <EndpointHealth endpoint={endpoint} />
      <LastDay of={endpoint.recent} />
      <Wanted events={endpoint.events} />
      {canManage && <Secret endpoint={endpoint} />}
      <Deliveries endpointId={endpoint.id} />
    </>
  );
}

function LastDay({ of: { acknowledged, retried, failed, queued, more, medianMs, p95Ms } }: { of: Endpoint['recent'] }) {
  return (
    <Stats label={`Deliveries of the last 24 hours${more ? ', the latest 5,000' : ''}`}>
      <Stat label="Acknowledged" value={acknowledged} />
      <Stat label="Retrying" value={retried} tone={retried > 0 ? 'warn' : undefined} />
      <Stat label="Failed" value={failed} tone={failed > 0 ? 'bad' : undefined} />
      <Stat label="Waiting" value={queued} />
      <Stat label="Median response time" value={formatDuration(medianMs)} />
      <Stat label="95th percentile response time" value={formatDuration(p95Ms)} />
    </Stats>
  );
}

function Wanted({ events }: { events: string[] }) {
  return (
    <Text size="sm" component="div">
      <Group gap={6}>
        <span className="dimmed">Subscribed to</span>
        {events.includes('*')
          ? 'all events, including types added later'
          : events.map((type) => (
              <code key={type} className="chip">
                {type}
              </code>
            ))}
      </Group>
    </Text>
  );
}
