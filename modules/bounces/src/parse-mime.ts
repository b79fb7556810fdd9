// Runs on a thread of the pool: mail of many lines takes long to parse.
import PostalMime, { type Email, type PostalMimeOptions } from 'postal-mime';

/** Parses a mail. @throws Error when its parts are nested too deep, or its headers are too long. */
export function parseMime(raw: Uint8Array, options: PostalMimeOptions): Promise<Email> {
  return PostalMime.parse(raw, options);
}
