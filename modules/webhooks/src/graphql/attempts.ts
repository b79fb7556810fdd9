import { builder, callerProject, db, JSON_OBJECT, atMost, workflowUrl } from '@postroom/platform';
import { type RecordedAttempt, streamAttempts } from '../attempt-stream.ts';
import { POLICY } from '../policy.ts';
import { Delivery } from './deliveries.ts';

builder.prismaObject('Attempt', {
  name: 'DeliveryAttempt',
  description: 'One POST of a delivery, with its response.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: '1 to 6.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
    status: t.exposeInt('status', { nullable: true, description: 'The HTTP status; null if there was no response.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why there was no complete response.' }),
    response: t.exposeString('response', {
      nullable: true,
      description:
        'The first 4 KB of the response body. U+FFFD replaces characters that control a terminal or reorder text.',
      ...atMost(POLICY.attempt.responseBytes),
    }),
    headers: t.expose('headers', { type: 'JSON', description: 'The request headers.', ...JSON_OBJECT }),
    workflowId: t.exposeID('workflowId', {
      nullable: true,
      description:
        "The workflow that made it: the delivery's own, or `batch_…`. Null for attempts that were made before it was recorded.",
    }),
    workflowUrl: t.string({
      nullable: true,
      description: 'That workflow in the Temporal UI; null if the URL of the UI is not configured.',
      select: { workflowId: true },
      resolve: ({ workflowId }) => (workflowId === null ? undefined : workflowUrl(workflowId)),
    }),
  }),
});

const RecordedAttemptRef = builder.objectRef<RecordedAttempt>('RecordedAttempt').implement({
  description: 'An attempt, as an item of the stream of attempts.',
  fields: (t) => ({
    attempt: t.prismaField({
      type: 'Attempt',
      nullable: true,
      description: 'The attempt; null if its endpoint has just been deleted.',
      resolve: (query, { deliveryId, number }) =>
        db.attempt.findUnique({ ...query, where: { deliveryId_number: { deliveryId, number } } }),
    }),
    delivery: t.prismaField({
      type: Delivery,
      nullable: true,
      description: 'The delivery in its current state; null if its endpoint has just been deleted.',
      resolve: (query, { deliveryId }) => db.delivery.findUnique({ ...query, where: { id: deliveryId } }),
    }),
    cursor: t.exposeString('cursor', {
      description: 'Pass it as `after` to continue the stream after this attempt, on any gateway.',
    }),
  }),
});

builder.subscriptionField('webhookAttemptRecorded', (t) =>
  t.field({
    type: RecordedAttemptRef,
    description: 'Every attempt as it is recorded, without gaps or duplicates. To reconnect, pass the last cursor.',
    args: {
      endpointId: t.arg.id({ description: 'Only attempts of this endpoint.' }),
      after: t.arg.string({
        description:
          'Starts after the attempt with this cursor, or at an `eventCursor`; without it, with the next attempt that is recorded.',
      }),
    },
    subscribe: (_root, args, context) => streamAttempts(callerProject(context), args),
    resolve: (attempt) => attempt,
  }),
);
