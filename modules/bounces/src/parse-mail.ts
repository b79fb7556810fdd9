import { onThread, type ThreadFunction } from '@postroom/platform';
import type { Email, PostalMimeOptions } from 'postal-mime';
import { parseMime } from './parse-mime.ts';

/** A mail of 40 MB in lines of usual length takes a few seconds. */
const PARSE: ThreadFunction = {
  module: import.meta.resolve('./parse-mime.ts'),
  name: 'parseMime',
  timeLimitMs: 15_000,
};

/** Up to so many bytes it takes longer to hand a mail to a thread than to parse it. */
const SHORT = 4_096;

/** Parses a mail for whoever sent it, where that delays nobody else. @throws Error when it can't be parsed, or not in time. */
export function parseMail(caller: string, raw: Uint8Array, options: PostalMimeOptions): Promise<Email> {
  return raw.length <= SHORT
    ? parseMime(raw, options)
    : onThread<[Uint8Array, PostalMimeOptions], Email>(PARSE, caller, raw, options);
}
