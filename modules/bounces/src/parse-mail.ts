import { IsolatedCallError, type IsolatedFunction, runIsolated } from '@postroom/platform';
import type { Email, PostalMimeOptions } from '@postroom/mime/parse';
import { parseMime } from './parse-mime.ts';

/** A 40 MB mail takes a few seconds to parse. */
const PARSE: IsolatedFunction = {
  module: import.meta.resolve('./parse-mime.ts'),
  name: 'parseMime',
  timeLimitMs: 15_000,
};

/** Below this size in bytes, parsing inline is faster than handing the mail to another process. */
const INLINE_BYTES = 4_096;

/**
 * Parses a mail without blocking the event loop. `caller` is the fairness key.
 * @throws IsolatedCallError if it is invalid or takes too long; otherwise as `runIsolated`.
 */
export function parseMail(caller: string, raw: Uint8Array, options: PostalMimeOptions): Promise<Email> {
  return raw.length <= INLINE_BYTES
    ? parseMime(raw, options).catch((error: Error) => Promise.reject(new IsolatedCallError(error.message)))
    : runIsolated<[Uint8Array, PostalMimeOptions], Email>(PARSE, caller, raw, options);
}
