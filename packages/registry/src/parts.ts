import type { EventType, PrivacyPart, Route, ScheduledWorkflow, StreamRoute } from '@postroom/platform';
import type { DispatchSource } from '@postroom/platform/dispatcher';
import type { DurableWork } from '@postroom/platform/durable-work';
import type { Queue } from '@postroom/platform/metrics';

/**
 * What a module may contribute. A module contributes a part by exporting it from its package: `"./rest"` in the `exports` of its
 * package.json. Each program loads only the parts it uses.
 */
export interface Parts {
  /** Adds its GraphQL types to the builder when it is imported. Gateway. */
  graphql: object;
  /** Its `/v1` routes, and downloads for signed-in users that `/v1` does not have. Gateway. */
  rest: { routes: readonly Route[]; streams?: readonly StreamRoute[]; downloads?: readonly StreamRoute[] };
  /** Its event types, for webhooks, the event stream and the reference. Gateway and worker. */
  events: { eventTypes: Readonly<Record<string, EventType>> };
  /** Its activities: every export. Worker. */
  activities: Record<string, (...args: never[]) => unknown>;
  /** Its workflows: every export. The worker bundles the file; no program imports it. */
  workflows: never;
  /** Workflows that run by the clock. Worker. */
  schedules: { schedules: readonly ScheduledWorkflow[] };
  /** Rows that become workflows. Worker. */
  dispatcher: { source: DispatchSource };
  /** Open rows that need a running workflow, which the sweep restores when it was lost. Worker. */
  'durable-work': { work: readonly DurableWork[] };
  /** Queues of work, as `/metrics` reports them. Gateway and worker. */
  metrics: { queues: readonly Queue[] };
  /** Deletes expired rows and returns their numbers by kind. Worker, hourly. */
  retention: { deleteOld: (options: { onBatch: () => void }) => Promise<Record<string, number>> };
  /** Erases and exports what it stores about a person. Gateway. */
  privacy: PrivacyPart;
}

/** The exports that a part must have. Without them the program fails at startup. */
export const REQUIRED: { readonly [Part in keyof Parts]: readonly string[] } = {
  graphql: [],
  rest: ['routes'],
  events: ['eventTypes'],
  activities: [],
  workflows: [],
  schedules: ['schedules'],
  dispatcher: ['source'],
  'durable-work': ['work'],
  metrics: ['queues'],
  retention: ['deleteOld'],
  privacy: ['stage', 'eraseSubject'],
};
