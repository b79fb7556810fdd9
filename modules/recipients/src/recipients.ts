import { getCampaign } from '@postroom/campaigns';
import { type BounceClass, type EmailStatus, statusOf } from '@postroom/ledger';
import {
  countUpTo,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readPage,
  readSearchPage,
  runCostly,
} from '@postroom/platform';
import { checkLink, type RecipientFilter, recipientsSql, type Scope } from './filter.ts';
import { searchRecipients } from './search.ts';

/** A recipient from the campaign's snapshot, and the outcome of its message. */
export interface Recipient {
  id: string;
  contactId: string;
  email: string;
  state: Prisma.MessageModel['state'];
  status: EmailStatus;
  answer: string | null;
  deferrals: number;
  notBefore: Date | null;
  claimedAt: Date | null;
  acceptedAt: Date | null;
  unsentAt: Date | null;
  deliveredAt: Date | null;
  openedAt: Date | null;
  clickedAt: Date | null;
  openedByMachinesAt: Date | null;
  clickedByMachinesAt: Date | null;
  bouncedAt: Date | null;
  bounceClass: BounceClass | null;
  bounceReason: string | null;
  complainedAt: Date | null;
  rejectedAt: Date | null;
  unsubscribedAt: Date | null;
  resubscribedAt: Date | null;
}

/** The columns of a recipient; `withStatus` completes it. */
export const RECIPIENT_COLUMNS = `m.id, m.contact_id AS "contactId", m.email, m.state, m.answer, m.deferrals,
  m.not_before AS "notBefore", m.claimed_at AS "claimedAt", m.accepted_at AS "acceptedAt", m.unsent_at AS "unsentAt",
  m.delivered_at AS "deliveredAt", m.opened_at AS "openedAt", m.clicked_at AS "clickedAt",
  m.machine_opened_at AS "openedByMachinesAt", m.machine_clicked_at AS "clickedByMachinesAt", m.bounced_at AS "bouncedAt",
  m.bounce_class AS "bounceClass", m.bounce_reason AS "bounceReason", m.complained_at AS "complainedAt",
  m.rejected_at AS "rejectedAt", m.unsubscribed_at AS "unsubscribedAt", m.resubscribed_at AS "resubscribedAt"`;

export type RecipientRow = Omit<Recipient, 'status'>;

/** Adds the status that `/v1/emails` shows for the message. */
export const withStatus = (row: RecipientRow): Recipient => ({
  ...row,
  status: statusOf({ ...row, campaignId: '', dispatchedAt: null, deferredAt: null }),
});

/**
 * A campaign's recipients that pass a filter, the newest rows first. A page of a search may end before it is full, even without a row,
 * and the next one continues.
 * @throws DomainError `not_found`, `validation_error` for a filter that cannot be combined, or an unknown link.
 */
export async function listRecipients(
  projectId: string,
  campaignId: string,
  filter: RecipientFilter,
  args: PageArgs,
): Promise<Page<Recipient>> {
  await getCampaign(projectId, campaignId);
  await checkLink(campaignId, filter);
  const read = async (scope: Scope, limit: number) => {
    const { from, parameters } = recipientsSql(campaignId, filter, scope);
    const text = `SELECT ${RECIPIENT_COLUMNS} ${from} ORDER BY m.id DESC LIMIT ${parameters.add(limit)}`;
    return (await pool.query<RecipientRow>(text, parameters.values)).rows.map(withStatus);
  };
  const count = (limit: number) => {
    const { from, parameters } = recipientsSql(campaignId, filter);
    return runCostly(projectId, () => countUpTo(limit, `SELECT 1 ${from}`, parameters.values));
  };
  if ((filter.search?.trim() ?? '') !== '')
    return readSearchPage(
      'eml',
      args,
      (page) => runCostly(projectId, () => searchRecipients({ projectId, campaignId, filter }, page, read)),
      count,
    );
  const readRows = ({ limit, before }: { limit: number; before: string | undefined }) => read({ before }, limit);
  return readPage(
    'eml',
    args,
    (page) => (readsAll(filter) ? runCostly(projectId, () => readRows(page)) : readRows(page)),
    count,
  );
}

/** Whether a page may read all messages of the campaign, because no index covers the filter. */
const readsAll = ({ link, outcome }: RecipientFilter) => [link, outcome].some((each) => each != null);
