import { createHash, randomBytes } from 'node:crypto';

/** A token for a link in a mail. Only its hash is stored. */
export const newToken = (): string => randomBytes(32).toString('base64url');

export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
