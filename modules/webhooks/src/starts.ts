import { config, webhooksQueue } from '@postroom/platform';
import type { EagerStart } from '@postroom/platform/dispatcher';
import type { Claimed, ClaimedRetry } from './queue.ts';
import { describeResponse } from './schedule.ts';
import { POLICY } from './policy.ts';

/** A workflow to start, and the deliveries to release if the start fails. */
export interface Start extends EagerStart {
  deliveryIds: string[];
}

/** The workflows for claimed deliveries: one per batch, and one per individual delivery. */
export function startsOf(claimed: readonly (Claimed | ClaimedRetry)[]): Start[] {
  const byWorkflow = Map.groupBy(claimed, ({ workflow_id: workflowId }) => workflowId);
  return [...byWorkflow.values()].map((members) => {
    const [first] = members as [Claimed | ClaimedRetry];
    if (!first.workflow_id.startsWith(first.id)) return batchStart(members);
    return 'status' in first && first.attempt_count > 0 ? retryStart(first) : individualStart(first);
  });
}

function individualStart(delivery: Claimed): Start {
  return {
    workflowId: delivery.workflow_id,
    type: 'deliverWebhook',
    taskQueue: webhooksQueue(),
    args: [delivery.id],
    deliveryIds: [delivery.id],
    traceparent: delivery.traceparent,
    summary: `${delivery.event_type} to ${delivery.endpoint_id}`,
    details: `One event to one endpoint: at most ${POLICY.attempt.max} attempts. ${attemptsLink(delivery)}`,
    searchAttributes: searchAttributesOf(delivery, 'queued'),
  };
}

/** A batch may span endpoints and projects; it is searchable by the attributes that all its deliveries share. */
function batchStart(members: readonly Claimed[]): Start {
  const [first] = members as [Claimed];
  const endpoints = new Set(members.map(({ endpoint_id: id }) => id)).size;
  const noun = first.attempt_count === 0 ? ['first attempt', 'first attempts'] : ['retry', 'retries'];
  const isOfOneProject = members.every(({ project_id: id }) => id === first.project_id);
  return {
    workflowId: first.workflow_id,
    type: 'deliverBatch',
    taskQueue: webhooksQueue(),
    args: [members.map(({ id }) => id)],
    deliveryIds: members.map(({ id }) => id),
    summary: `${members.length} ${noun[members.length === 1 ? 0 : 1]} to ${endpoints === 1 ? first.endpoint_id : `${endpoints} endpoints`}`,
    details:
      'One attempt of each delivery. Those not acknowledged wait in the table, and are retried in another batch when they are due.',
    searchAttributes: {
      ...(isOfOneProject ? { projectId: first.project_id } : {}),
      ...(endpoints === 1 ? { endpointId: first.endpoint_id } : {}),
    },
  };
}

/** The workflow for a delivery that was attempted elsewhere and is due. */
function retryStart(delivery: ClaimedRetry): Start {
  const { attempt_count: attemptsMade } = delivery;
  const message = `Attempt ${attemptsMade} of ${POLICY.attempt.max}: ${describeResponse(delivery)}`;
  return {
    workflowId: delivery.workflow_id,
    type: 'deliverWebhook',
    taskQueue: webhooksQueue(),
    args: [delivery.id, { message, delayMs: 0 }],
    deliveryIds: [delivery.id],
    summary: `${delivery.event_type} to ${delivery.endpoint_id}, from attempt ${attemptsMade + 1}`,
    details: `One event to one endpoint, after ${attemptsMade === 1 ? 'one attempt' : `${attemptsMade} attempts`} elsewhere. ${attemptsLink(delivery)}`,
    searchAttributes: searchAttributesOf(delivery, 'retried'),
  };
}

const searchAttributesOf = (delivery: Claimed, deliveryStatus: string) => ({
  projectId: delivery.project_id,
  endpointId: delivery.endpoint_id,
  eventType: delivery.event_type,
  deliveryStatus,
});

/** Link to the dashboard page that shows the attempts. */
const attemptsLink = ({ project_id: projectId, endpoint_id: endpointId, id }: Claimed) =>
  `[Attempts](${config.PUBLIC_URL}/p/${projectId}/webhooks/${endpointId}/deliveries/${id})`;
