import { config } from '@postroom/platform';
import { decodeEntities, type Slot, sourceOf, splitAtMarks } from '@postroom/templating';

/** Decodes only entities that end with a semicolon; otherwise `?a=1&lt=2` would become a different link. */
export const decodeUrl = (html: string) => html.replace(/&(?:#\d+|#x[\da-f]+|[a-z]+);/gi, decodeEntities);

export const WEB = /^\s*https?:\/\/[^\s/]/i;

/** A link in pieces of HTML, between its placeholders. */
export interface Link {
  statics: string[];
  slots: Slot[];
  /** The target, with placeholders and tags as written. */
  source: string;
  /** Whether the target of a recipient is sealed as a whole: its values alone don't tell where they stand. */
  isWhole: boolean;
}

/** Splits a marked link into pieces; undefined if it is to a page for the recipient or not http(s), which stay as they are. */
export function readLink(value: string, slots: readonly Slot[]): Link | undefined {
  const { statics, slots: within } = splitAtMarks(value, slots);
  const pieces = statics.map((piece) => decodeUrl(piece));
  const plain = plainSource(pieces, within);
  // Braces in the URL itself, such as `{%22a%22:1}`, look like a placeholder or tag.
  const isWhole =
    within.some(({ kind }) => kind !== 'variable') || (within.length > 0 && pieces.some((piece) => BRACES.test(piece)));
  const source = isWhole ? sourceOf({ statics: pieces, slots: within }).trim() : plain;
  // If the link starts with a placeholder, each value decides whether it is tracked (see `personalUrl`).
  const isOpen = within.length > 0 && pieces[0]!.trim() === '';
  const isWeb = isOpen ? isOpenLink(within[0]!) : WEB.test(plain);
  if (!isWeb || OF_RECIPIENT.test(source) || plain.startsWith(`${config.PUBLIC_URL}/u/`)) return undefined;
  if (within.length === 0 && !URL.canParse(source)) return undefined;
  return { statics, slots: within, source, isWhole };
}

const OF_RECIPIENT = /unsubscribe|view_in_browser_url/i;
const BRACES = /\{[{%]/;

/** Whether a link that starts with this slot may become a web link. */
const isOpenLink = (slot: Slot) => slot.kind !== 'variable' || slot.context === 'url';

const plainSource = (pieces: readonly string[], slots: readonly Slot[]) =>
  pieces
    .reduce((before, piece, i) => {
      const slot = slots[i - 1]!;
      return `${before}{{${slot.kind === 'variable' ? slot.name : ''}}}${piece}`;
    })
    .trim();
