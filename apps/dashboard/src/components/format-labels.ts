import type { ContentFormat } from '../generated/graphql.ts';

/** What formats are called where they are chosen and written in. */
export const FORMAT_LABELS: Record<ContentFormat, string> = { html: 'HTML', mjml: 'MJML' };
