import { Button, Card, Group, Text, Tooltip } from '@mantine/core';
import { IconRepeat } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { usePermission } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useLive } from '../../data/live.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { CodeBlock } from '../../components/copy.tsx';
import { DescriptionList } from '../../components/description-list.tsx';
import { FormProblem } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { When } from '../../components/when.tsx';
import { WorkflowLink } from '../../components/workflow-link.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { Attempts } from './attempts.tsx';
import { STATES } from './states.ts';
import { DELIVERY, type Delivery } from './delivery-row.ts';

const ATTEMPTED = graphql(`
  subscription OneAttempted($endpointId: ID!) {
    webhookDeliveryAttempted(endpointId: $endpointId) {
      id
    }
  }
`);

const REPLAY = graphql(`
  mutation ReplayDelivery($id: ID!) {
    replayWebhookDelivery(id: $id) {
      id
    }
  }
`);

const RETRY = graphql(`
  mutation RetryDelivery($id: ID!) {
    webhookDeliveryRetry(id: $id) {
      delivery {
        id
        nextAttemptAt
      }
    }
  }
`);

const GIVE_UP = graphql(`
  mutation GiveUpDelivery($id: ID!) {
    webhookDeliveryGiveUp(id: $id) {
      delivery {
        id
        state
      }
    }
  }
`);

/** One delivery: payload, attempts with responses, and the next attempt. */
export function DeliveryPage() {
  const { projectId, endpointId, deliveryId } = useParams({
    from: '/auth/p/$projectId/webhooks/$endpointId/deliveries/$deliveryId',
  });
  const read = useApiQuery(DELIVERY, { id: deliveryId });
  const delivery = read.data?.webhookDelivery;
  useLive(ATTEMPTED, { endpointId }, { pause: delivery === undefined || delivery.closedAt !== null });
  return (
    <Page
      title={delivery?.eventType ?? 'Delivery'}
      about={delivery?.endpoint.url}
      mark={
        delivery !== undefined && (
          <StatusBadge tone={STATES[delivery.state].tone}>{STATES[delivery.state].label}</StatusBadge>
        )
      }
      actions={delivery !== undefined && <Actions delivery={delivery} endpointId={endpointId} projectId={projectId} />}
      back={
        <TextLink to="/p/$projectId/webhooks/$endpointId" params={{ projectId, endpointId }} size="sm">
          <BackLabel>Endpoint</BackLabel>
        </TextLink>
      }
    >
      <QueryResult of={read}>{(data) => <Content delivery={data.webhookDelivery} />}</QueryResult>
    </Page>
  );
}

function Actions({
  delivery: { id, state, closedAt },
  projectId,
  endpointId,
}: {
  delivery: Delivery;
  projectId: string;
  endpointId: string;
}) {
  const replay = useApiMutation(REPLAY);
  const retry = useApiMutation(RETRY);
  const giveUp = useApiMutation(GIVE_UP);
  const navigate = useNavigate();
  const canWrite = usePermission('write');
  const run = async () => {
    const data = await replay.run({ id });
    if (data === undefined) return;
    notifySuccess('Replay started. This is the new delivery.');
    void navigate({
      to: '/p/$projectId/webhooks/$endpointId/deliveries/$deliveryId',
      params: { projectId, endpointId, deliveryId: data.replayWebhookDelivery.id },
    });
  };
  const retryNow = async () => {
    if ((await retry.run({ id })) !== undefined) notifySuccess('Retrying now.');
  };
  const stop = async () => {
    if ((await giveUp.run({ id })) !== undefined) notifySuccess('Given up. You can replay the delivery.');
  };
  return (
    <>
      <FormProblem problem={replay.problem ?? retry.problem ?? giveUp.problem} />
      {canWrite && state === 'retried' && (
        <Button variant="default" loading={giveUp.running} onClick={() => void stop()}>
          Give up
        </Button>
      )}
      {canWrite && state === 'retried' && (
        <Button
          leftSection={<IconRepeat size={16} aria-hidden />}
          loading={retry.running}
          onClick={() => void retryNow()}
        >
          Retry now
        </Button>
      )}
      {canWrite && (
        <Tooltip label="Give up first: the delivery is still being retried." disabled={closedAt !== null}>
          <Button
            variant={closedAt === null ? 'default' : 'filled'}
            leftSection={<IconRepeat size={16} aria-hidden />}
            loading={replay.running}
            data-disabled={closedAt === null || undefined}
            aria-disabled={closedAt === null}
            onClick={() => closedAt !== null && void run()}
          >
            Replay
          </Button>
        </Tooltip>
      )}
    </>
  );
}

function Content({ delivery }: { delivery: Delivery }) {
  const { state, nextAttemptAt, attemptCount, createdAt, closedAt, eventId, replayOf, workflowId, body } = delivery;
  return (
    <>
      <Card>
        <DescriptionList
          items={[
            ['Queued', <When key="at" at={createdAt} />],
            ['Attempts', `${attemptCount} of up to 6`],
            state === 'retried' && nextAttemptAt !== null && ['Next attempt', <When key="next" at={nextAttemptAt} />],
            closedAt !== null && [state === 'failed' ? 'Given up' : 'Acknowledged', <When key="end" at={closedAt} />],
            ['Event ID', <code key="event">{eventId}</code>],
            ['Delivery ID', <code key="id">{delivery.id}</code>],
            replayOf !== null && ['Replay of', <code key="replay">{replayOf}</code>],
            workflowId !== null && ['Workflow', <Workflow key="workflow" id={workflowId} url={delivery.workflowUrl} />],
          ]}
        />
      </Card>
      <Section title="Attempts" about="The endpoint must respond with a 2xx status within ten seconds.">
        <Attempts attempts={delivery.attempts} />
      </Section>
      <Section title="Payload" about="The request body, identical for every attempt.">
        <CodeBlock text={pretty(body)} copied={body} label="Request body" />
        <Group mt="xs">
          <Text size="xs" c="dimmed">
            {new TextEncoder().encode(body).length.toLocaleString()} bytes; formatted here, copied exactly as sent.
          </Text>
        </Group>
      </Section>
    </>
  );
}

/** An attempt in a batch shares its workflow with others; that workflow's result names those that were not acknowledged. */
const Workflow = ({ id, url }: { id: string; url: string | null }) => (
  <>
    <code>{id}</code>
    {id.startsWith('batch_') && ' (a batch)'} <WorkflowLink url={url} />
  </>
);

const pretty = (body: string) => JSON.stringify(JSON.parse(body), null, 2);
