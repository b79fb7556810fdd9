import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { EmailStatus } from '../../generated/graphql.ts';
import { STATUS_LABELS } from './email-status.tsx';

/** The email log's search parameters. */
export interface EmailSearch extends PageSearch {
  to?: string;
  tag?: string;
  status?: EmailStatus;
}

export function emailSearch({ to, tag, status, ...search }: Record<string, unknown>): EmailSearch {
  return {
    ...(typeof to === 'string' && to !== '' ? { to } : {}),
    ...(typeof tag === 'string' && tag !== '' ? { tag } : {}),
    ...(typeof status === 'string' && status in STATUS_LABELS ? { status: status as EmailStatus } : {}),
    ...pageSearch(search),
  };
}
