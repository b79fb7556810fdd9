import { config } from '@postroom/platform';
import type { EagerStart } from '@postroom/platform/dispatcher';
import type { Claimed, ClaimedRetry } from './queue.ts';
import { describeResponse, MAX_ATTEMPTS } from './schedule.ts';

/** A workflow to start, and the deliveries that wait again if it does not. */
export interface Start extends EagerStart {
  deliveryIds: string[];
}

/** The workflows of deliveries that were claimed for their first attempt: one for each that goes alone, one for each batch. */
export function firstStarts(claimed: readonly Claimed[]): Start[] {
  const byWorkflow = Map.groupBy(claimed, ({ workflow_id: workflowId }) => workflowId);
  return [...byWorkflow.values()].map((members) => {
    const [first] = members as [Claimed];
    return first.workflow_id.startsWith(first.id) ? aloneStart(first) : batchStart(members);
  });
}

function aloneStart(delivery: Claimed): Start {
  return {
    workflowId: delivery.workflow_id,
    type: 'deliverWebhook',
    args: [delivery.id],
    deliveryIds: [delivery.id],
    summary: `${delivery.event_type} to ${delivery.endpoint_id}`,
    details: `One event to one endpoint: at most ${MAX_ATTEMPTS} attempts. ${attemptsLink(delivery)}`,
    searchAttributes: labels(delivery, 'queued'),
  };
}

/** Many deliveries need not be of one endpoint, nor of one project: what they have in common is what they are found by. */
function batchStart(members: readonly Claimed[]): Start {
  const [first] = members as [Claimed];
  const endpoints = new Set(members.map(({ endpoint_id: id }) => id)).size;
  const isOfOneProject = members.every(({ project_id: id }) => id === first.project_id);
  return {
    workflowId: first.workflow_id,
    type: 'deliverBatch',
    args: [members.map(({ id }) => id)],
    deliveryIds: members.map(({ id }) => id),
    summary: `${members.length} first attempts to ${endpoints === 1 ? first.endpoint_id : `${endpoints} endpoints`}`,
    details:
      'The first attempts of deliveries in a burst. Each that is not acknowledged goes on in a workflow of its own, whose id is that of the delivery.',
    searchAttributes: {
      ...(isOfOneProject ? { projectId: first.project_id } : {}),
      ...(endpoints === 1 ? { endpointId: first.endpoint_id } : {}),
    },
  };
}

/**
 * The workflow of a delivery whose first attempt was not acknowledged in a batch. It is not started with a delay, but waits
 * by itself: signals do not reach a workflow that has not begun.
 */
export function retryStart(delivery: ClaimedRetry): Start {
  const { attempt_count: made, next_attempt_at: due } = delivery;
  const message = `Attempt ${made} of ${MAX_ATTEMPTS}: ${describeResponse(delivery)}`;
  return {
    workflowId: delivery.workflow_id,
    type: 'deliverWebhook',
    args: [delivery.id, { message, delayMs: Math.max(0, due.getTime() - Date.now()) }],
    deliveryIds: [delivery.id],
    summary: `${delivery.event_type} to ${delivery.endpoint_id}, from attempt ${made + 1}`,
    details: `One event to one endpoint, after ${made === 1 ? 'an attempt' : `${made} attempts`} elsewhere. ${attemptsLink(delivery)}`,
    searchAttributes: labels(delivery, 'retried'),
  };
}

const labels = (delivery: Claimed, deliveryStatus: string) => ({
  projectId: delivery.project_id,
  endpointId: delivery.endpoint_id,
  eventType: delivery.event_type,
  deliveryStatus,
});

/** The page of the dashboard that shows the attempts. */
const attemptsLink = ({ project_id: projectId, endpoint_id: endpointId, id }: Claimed) =>
  `[Its attempts](${config.PUBLIC_URL}/p/${projectId}/webhooks/${endpointId}/deliveries/${id})`;
