import type { WorkKind } from '@postroom/platform';
import { type ActivityInterfaceFor, type ActivityOptions, proxyActivities, workflowInfo } from '@temporalio/workflow';

/**
 * Activities that run on the task queue of their kind of work (`WORK_KINDS`), which is named after the
 * workflow's. `proxyActivities` would run them on the workflow's own.
 */
export function activitiesOn<Activities>(kind: WorkKind, options: ActivityOptions): ActivityInterfaceFor<Activities> {
  // The workflow's task queue is known only while it runs, so the options are completed at each call.
  const run =
    (name: string) =>
    (...args: unknown[]) =>
      proxyActivities({ ...options, taskQueue: `${workflowInfo().taskQueue}-${kind}` })[name]?.(...args);
  return new Proxy({}, { get: (_, name) => run(String(name)) }) as ActivityInterfaceFor<Activities>;
}
