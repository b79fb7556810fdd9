import type { ContentFormat } from '../generated/graphql.ts';

/** Content format labels. */
export const FORMAT_LABELS: Record<ContentFormat, string> = { html: 'HTML', mjml: 'MJML' };
