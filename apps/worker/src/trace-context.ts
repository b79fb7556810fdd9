import { inSpan } from '@postroom/platform';
import { defaultPayloadConverter } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** Activities whose workflow was started in a trace run in a span of it. */
export const inTrace: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) => {
      const { traceparent } = input.headers;
      if (traceparent === undefined) return next(input);
      const parent = defaultPayloadConverter.fromPayload<string>(traceparent);
      const workflowId = info.workflowExecution?.workflowId ?? '';
      const attributes = { 'temporal.workflow.id': workflowId, 'temporal.activity.attempt': info.attempt };
      return inSpan(`run ${info.activityType}`, { kind: 'consumer', parent, attributes }, () => next(input));
    },
  },
});
