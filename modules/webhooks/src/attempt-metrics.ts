import { Histogram } from '@postroom/platform/metrics';
import type { PostResponse } from '@postroom/guarded-client';
import { isAcknowledged } from './schedule.ts';

const seconds = new Histogram({
  name: 'postroom_webhook_attempt_duration_seconds',
  help: 'Duration of POSTs to endpoints, by outcome: acknowledged, refused (any other status) or unanswered.',
  labelNames: ['outcome'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

/** Adds a POST to the metrics. */
export function measureAttempt(response: PostResponse): void {
  const refused = response.status === null ? 'unanswered' : 'refused';
  seconds.observe({ outcome: isAcknowledged(response) ? 'acknowledged' : refused }, response.durationMs / 1000);
}
