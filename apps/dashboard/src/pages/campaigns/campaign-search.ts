import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { CampaignStatus } from '../../generated/graphql.ts';
import { STATUS_LABELS } from './campaign-labels.ts';

export interface CampaignSearch extends PageSearch {
  status?: CampaignStatus;
  /** Part of a name or subject. */
  q?: string;
}

export function campaignSearch({ status, q, ...search }: Record<string, unknown>): CampaignSearch {
  return {
    ...(typeof status === 'string' && status in STATUS_LABELS ? { status: status as CampaignStatus } : {}),
    ...(typeof q === 'string' && q !== '' ? { q } : {}),
    ...pageSearch(search),
  };
}
