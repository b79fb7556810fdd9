import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { CampaignStatus } from '../../generated/graphql.ts';
import { STATUS_LABELS } from './campaign-labels.ts';

export interface CampaignSearch extends PageSearch {
  status?: CampaignStatus;
}

export function campaignSearch({ status, ...search }: Record<string, unknown>): CampaignSearch {
  return {
    ...(typeof status === 'string' && status in STATUS_LABELS ? { status: status as CampaignStatus } : {}),
    ...pageSearch(search),
  };
}
