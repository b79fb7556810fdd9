// Runs in its own process, because mail with many lines is slow to parse.
import PostalMime, { type Email, type PostalMimeOptions } from '@postroom/mime/parse';

/** Parses a mail. @throws Error if its parts are nested too deeply or its headers are too long. */
export function parseMime(raw: Uint8Array, options: PostalMimeOptions): Promise<Email> {
  return PostalMime.parse(raw, options);
}
