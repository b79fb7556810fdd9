import { config } from '@postroom/platform';
import { decodeEntities, splitAtMarks, type Variable } from '@postroom/templating';

/** Decodes only entities that end with a semicolon; otherwise `?a=1&lt=2` would become a different link. */
export const decodeUrl = (html: string) => html.replace(/&(?:#\d+|#x[\da-f]+|[a-z]+);/gi, decodeEntities);

export const WEB = /^\s*https?:\/\/[^\s/]/i;

/** A link in pieces of HTML, between its placeholders. */
export interface Link {
  statics: string[];
  variables: Variable[];
  /** The target, with placeholders as written. */
  source: string;
}

/** Splits a marked link into pieces; undefined if it is an unsubscribe link or not http(s), which stay as they are. */
export function readLink(value: string, variables: readonly Variable[]): Link | undefined {
  const { statics, variables: within } = splitAtMarks(value, variables);
  const pieces = statics.map((piece) => decodeUrl(piece));
  const source = pieces.reduce((before, piece, i) => `${before}{{${within[i - 1]!.name}}}${piece}`).trim();
  // If the link starts with a placeholder, each value decides whether it is tracked (see `personalUrl`).
  const isWeb = within.length > 0 && pieces[0]!.trim() === '' ? within[0]!.context === 'url' : WEB.test(source);
  if (!isWeb || /unsubscribe/i.test(source) || source.startsWith(`${config.PUBLIC_URL}/u/`)) return undefined;
  if (within.length === 0 && !URL.canParse(source)) return undefined;
  return { statics, variables: within, source };
}
