import { type PageSearch, pageSearch } from '../../data/paging.ts';
import { type TimeRange, timeRange } from '../../data/time-range.ts';
import type { EmailOutcome, EmailStatus } from '../../generated/graphql.ts';
import { STATUS_LABELS } from './email-status.tsx';

export const OUTCOMES: Record<EmailOutcome, string> = {
  sent: 'Sent',
  failed: 'Failed',
  delivered: 'Delivered',
  opened: 'Opened',
  opened_by_machines: 'Opened by bots',
  clicked: 'Clicked',
  clicked_by_machines: 'Clicked by bots',
  bounced: 'Bounced',
  complained: 'Complained',
};

/** The email log's search parameters. */
export interface EmailSearch extends PageSearch, TimeRange {
  /** Only emails with this outcome in the period, those of campaigns included. */
  outcome?: EmailOutcome;
  to?: string;
  tag?: string;
  status?: EmailStatus;
}

export function emailSearch({ to, tag, status, outcome, ...search }: Record<string, unknown>): EmailSearch {
  const range = timeRange(search);
  const { since } = range;
  return {
    ...(typeof to === 'string' && to !== '' ? { to } : {}),
    ...(typeof tag === 'string' && tag !== '' ? { tag } : {}),
    ...(typeof status === 'string' && status in STATUS_LABELS ? { status: status as EmailStatus } : {}),
    ...(typeof outcome === 'string' && outcome in OUTCOMES && since !== undefined
      ? { outcome: outcome as EmailOutcome, ...range }
      : {}),
    ...pageSearch(search),
  };
}
