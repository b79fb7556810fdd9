import type { DeliveryState } from '../../generated/graphql.ts';
import type { Tone } from '../../components/badge.tsx';

/** Delivery state labels. */
export const STATES: Record<DeliveryState, { label: string; tone: Tone }> = {
  acknowledged: { label: 'Acknowledged', tone: 'good' },
  retried: { label: 'Retrying', tone: 'warn' },
  failed: { label: 'Failed', tone: 'bad' },
  queued: { label: 'Waiting', tone: 'quiet' },
};
