import type { DeliveryState } from '../../generated/graphql.ts';
import type { Tone } from '../../components/badge.tsx';

/** What the states of a delivery are called here. */
export const STATES: Record<DeliveryState, { label: string; tone: Tone }> = {
  acknowledged: { label: 'Acknowledged', tone: 'good' },
  retried: { label: 'Retrying', tone: 'warn' },
  failed: { label: 'Failed', tone: 'bad' },
  queued: { label: 'Waiting', tone: 'quiet' },
};
