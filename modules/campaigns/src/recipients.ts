import {
  countUpTo,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readPage,
  runCostly,
  emailKey,
  messageKeySql,
} from '@postroom/platform';
import { getCampaign } from './campaigns.ts';

type RecipientState = Prisma.MessageModel['state'];

/** A recipient from the campaign's snapshot, and the outcome of its message. */
export interface Recipient {
  id: string;
  contactId: string;
  email: string;
  state: RecipientState;
  answer: string | null;
  deferrals: number;
  notBefore: Date | null;
  claimedAt: Date | null;
  acceptedAt: Date | null;
  deliveredAt: Date | null;
  openedAt: Date | null;
  clickedAt: Date | null;
  bouncedAt: Date | null;
  complainedAt: Date | null;
  unsubscribedAt: Date | null;
}

export interface RecipientFilter {
  state?: RecipientState | null | undefined;
  email?: string | null | undefined;
}

const COLUMNS = `m.id, m.contact_id AS "contactId", m.email, m.state, m.answer, m.deferrals, m.not_before AS "notBefore",
  m.claimed_at AS "claimedAt", m.accepted_at AS "acceptedAt", m.delivered_at AS "deliveredAt", m.opened_at AS "openedAt",
  m.clicked_at AS "clickedAt", m.bounced_at AS "bouncedAt", m.complained_at AS "complainedAt",
  m.unsubscribed_at AS "unsubscribedAt"`;

/** Conditions that let a search by state use an index, since the state column has none (see the ledger's migration). */
const INDEXABLE: Partial<Record<RecipientState, string>> = {
  planned: '(m.id > c.cursor OR m.not_before IS NOT NULL)',
  claimed: 'm.id <= c.cursor AND c.claimed_count > 0',
  accepted: 'm.id <= c.cursor',
  failed: 'm.unsent_at IS NOT NULL',
  suppressed: 'm.unsent_at IS NOT NULL',
  unknown: 'm.unsent_at IS NOT NULL',
  canceled: 'm.unsent_at IS NOT NULL',
};

/** A campaign's recipients, the newest rows first. @throws DomainError `not_found`. */
export async function listRecipients(
  projectId: string,
  campaignId: string,
  { state, email }: RecipientFilter,
  args: PageArgs,
): Promise<Page<Recipient>> {
  await getCampaign(projectId, campaignId);
  const select = (before?: string) => {
    const values: unknown[] = [campaignId];
    const parameter = (value: unknown) => `$${values.push(value)}`;
    const where = ['c.id = $1', 'm.campaign_id = $1'];
    if (before !== undefined) where.push(`m.id < ${parameter(before)}`);
    if (state != null) where.push(`m.state = ${parameter(state)}`, INDEXABLE[state] ?? 'true');
    if (email != null) where.push(`${messageKeySql('m')} = ${parameter(emailKey(email))}`);
    const from = `FROM campaigns c JOIN messages m ON m.campaign_id = c.id WHERE ${where.join(' AND ')}`;
    return { from, values, parameter };
  };
  const read = async ({ limit, before }: { limit: number; before: string | undefined }) => {
    const { from, values, parameter } = select(before);
    const text = `SELECT ${COLUMNS} ${from} ORDER BY m.id DESC LIMIT ${parameter(limit)}`;
    const page = () => pool.query<Recipient>(text, values);
    // No index covers the address, so this scans all messages of the campaign.
    return (await (email == null ? page() : runCostly(projectId, page))).rows;
  };
  return readPage('eml', args, read, (limit) => {
    const { from, values } = select();
    return runCostly(projectId, () => countUpTo(limit, `SELECT 1 ${from}`, values));
  });
}
