import { parseReturnAddress, type ReturnAddress } from '@postroom/bounces';
import { pool } from '@postroom/platform';

/** Recipient of an incoming mail: a message's return address, or the feedback loop address. */
export type Recipient = { kind: 'message'; address: ReturnAddress } | { kind: 'complaints' };

/** Local part of the feedback loop address at every MAIL FROM subdomain. */
const FEEDBACK_LOCAL_PART = 'fbl';

/** Resolves an address; undefined if it isn't ours or its signature is invalid. */
export async function recipientOf(address: string): Promise<Recipient | undefined> {
  const returnAddress = parseReturnAddress(address);
  if (returnAddress !== undefined) return { kind: 'message', address: returnAddress };
  const at = address.lastIndexOf('@');
  if (address.slice(0, at).toLowerCase() !== FEEDBACK_LOCAL_PART) return undefined;
  const { rowCount } = await pool.query('SELECT FROM domains WHERE mail_from_domain = $1 LIMIT 1', [
    address.slice(at + 1).toLowerCase(),
  ]);
  return (rowCount ?? 0) > 0 ? { kind: 'complaints' } : undefined;
}
