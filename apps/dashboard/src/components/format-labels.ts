import type { ContentFormat } from '../generated/graphql.ts';

/** What formats are called where they are chosen and written in. */
export const FORMAT_WORDS: Record<ContentFormat, string> = { html: 'HTML', mjml: 'MJML' };
