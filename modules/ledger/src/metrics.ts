import type { Queue } from '@postroom/platform/metrics';
import { heldReason } from './installation.ts';

/** All outgoing mail. */
export const queues: readonly Queue[] = [
  { kind: 'mail', read: async () => ({ held: (await heldReason()) === undefined ? 0 : 1 }) },
];
