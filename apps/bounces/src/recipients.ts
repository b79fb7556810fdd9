import { parseReturnAddress, type ReturnAddress } from '@postroom/bounces';
import { pool } from '@postroom/platform';

/** Whom a mail is for: a message's return address, or where a provider sends what its readers complain of. */
export type Recipient = { kind: 'message'; address: ReturnAddress } | { kind: 'complaints' };

/** What the address of feedback loops is called, at every MAIL FROM subdomain. */
const COMPLAINTS = 'fbl';

/** Who is meant by an address; undefined when it is none of ours, or its signature is not. */
export async function recipientOf(address: string): Promise<Recipient | undefined> {
  const ours = parseReturnAddress(address);
  if (ours !== undefined) return { kind: 'message', address: ours };
  const at = address.lastIndexOf('@');
  if (address.slice(0, at).toLowerCase() !== COMPLAINTS) return undefined;
  const { rowCount } = await pool.query('SELECT FROM domains WHERE mail_from_domain = $1 LIMIT 1', [
    address.slice(at + 1).toLowerCase(),
  ]);
  return (rowCount ?? 0) > 0 ? { kind: 'complaints' } : undefined;
}
