import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

/** The Temporal header with the W3C trace context that a workflow was started in. */
const HEADER = 'traceparent';

/** Hands the trace context of a workflow to its activities and to the run that continues it. Workflows have no spans. */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let traceparent = {};
  return {
    inbound: [
      {
        execute: (input, next) => {
          const header = input.headers[HEADER];
          if (header !== undefined) traceparent = { [HEADER]: header };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...traceparent } }),
        continueAsNew: (input, next) => next({ ...input, headers: { ...input.headers, ...traceparent } }),
      },
    ],
  };
};
