import { emailKey } from '@postroom/email-address';

const ASCII = /^[\x20-\x7e]*$/;

/** The `messages.email_key` of an address: NULL if it equals `lower(email)`, as for nearly all. */
export function storedEmailKey(address: string): string | null {
  return ASCII.test(address) ? null : emailKey(address);
}

/**
 * SQL for the key of the message `alias`. Only ASCII addresses have a NULL key, and ASCII lower-cases the same in
 * every locale. An index uses this expression.
 */
export const messageKeySql = (alias: string) => `coalesce(${alias}.email_key, lower(${alias}.email COLLATE "C"))`;
