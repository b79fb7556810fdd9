import { getCampaign } from '@postroom/campaigns';
import { streamRows } from '@postroom/downloads';
import type { StreamExchange } from '@postroom/platform';
import { checkLink, type RecipientFilter, recipientsSql } from './filter.ts';
import { RECIPIENT_COLUMNS, type Recipient, type RecipientRow, withStatus } from './recipients.ts';

/** The columns of an export, by the field of a recipient. */
const FILE_COLUMNS = {
  email: 'email',
  contact_id: 'contactId',
  message_id: 'id',
  state: 'state',
  status: 'status',
  answer: 'answer',
  deferrals: 'deferrals',
  next_retry_at: 'nextRetryAt',
  accepted_at: 'acceptedAt',
  unsent_at: 'unsentAt',
  delivered_at: 'deliveredAt',
  opened_at: 'openedAt',
  opened_by_machines_at: 'openedByMachinesAt',
  clicked_at: 'clickedAt',
  clicked_by_machines_at: 'clickedByMachinesAt',
  bounced_at: 'bouncedAt',
  bounce_class: 'bounceClass',
  bounce_reason: 'bounceReason',
  complained_at: 'complainedAt',
  unsubscribed_at: 'unsubscribedAt',
  resubscribed_at: 'resubscribedAt',
  scheduled_at: 'scheduledAt',
  rejected_at: 'rejectedAt',
} as const satisfies Record<string, keyof Recipient | 'nextRetryAt' | 'scheduledAt'>;

/** Streams the recipients of a campaign that pass a filter as a CSV file, the newest rows first. */
export async function streamRecipients(exchange: StreamExchange): Promise<undefined> {
  const { projectId, params, options } = exchange;
  const { id = '' } = params;
  return streamRows<RecipientRow>(exchange, {
    name: `${id}-recipients.csv`,
    header: Object.keys(FILE_COLUMNS),
    statement: async () => {
      await getCampaign(projectId, id);
      await checkLink(id, options as RecipientFilter);
      const { from, parameters } = recipientsSql(id, options as RecipientFilter);
      return { text: `SELECT ${RECIPIENT_COLUMNS} ${from} ORDER BY m.id DESC`, values: parameters.values };
    },
    valuesOf: (row) => {
      const { notBefore, ...recipient } = withStatus(row);
      // A message that was never claimed waits for the local time of its recipient.
      const [nextRetryAt, scheduledAt] = recipient.claimedAt === null ? [null, notBefore] : [notBefore, null];
      const values = { ...recipient, nextRetryAt, scheduledAt };
      return Object.values(FILE_COLUMNS).map((field) => textOf(values[field]));
    },
  });
}

const textOf = (value: string | number | Date | null) =>
  value === null ? '' : value instanceof Date ? value.toISOString() : String(value);
