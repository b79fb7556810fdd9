import { isMailFromDomain, parseReturnAddress, projectOf, type ReturnAddress } from '@postroom/bounces';

/** Recipient of an incoming mail: a message's return address, or the feedback loop address. */
export type Recipient =
  /** `project` is undefined if the message was deleted or is in another cell. */
  { kind: 'message'; address: ReturnAddress; project: string | undefined } | { kind: 'complaints'; domain: string };

/** Local part of the feedback loop address at every MAIL FROM subdomain. */
const FEEDBACK_LOCAL_PART = 'fbl';
const HOST = /^[a-z0-9.-]{1,253}$/;

/** Resolves an address; undefined if it isn't ours or its signature is invalid. */
export async function recipientOf(address: string): Promise<Recipient | undefined> {
  const returnAddress = parseReturnAddress(address);
  if (returnAddress !== undefined)
    return { kind: 'message', address: returnAddress, project: await projectOf(returnAddress.messageId) };
  const at = address.lastIndexOf('@');
  if (address.slice(0, at).toLowerCase() !== FEEDBACK_LOCAL_PART) return undefined;
  const domain = address.slice(at + 1).toLowerCase();
  return HOST.test(domain) && (await isMailFromDomain(domain)) ? { kind: 'complaints', domain } : undefined;
}
