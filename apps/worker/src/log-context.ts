import { withLogContext } from '@postroom/platform';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** Lines that an activity logs carry its name and its workflow's id. */
export const inLogContext: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) => {
      const workflowId = info.workflowExecution?.workflowId;
      return withLogContext({ ...(workflowId === undefined ? {} : { workflowId }), activity: info.activityType }, () =>
        next(input),
      );
    },
  },
});
