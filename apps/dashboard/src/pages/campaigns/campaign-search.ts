import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { CampaignStatus, RecipientState } from '../../generated/graphql.ts';
import { RECIPIENT_WORDS, STATUS_LABELS } from './campaign-labels.ts';

export interface CampaignSearch extends PageSearch {
  status?: CampaignStatus;
}

export function campaignSearch({ status, ...search }: Record<string, unknown>): CampaignSearch {
  return {
    ...(typeof status === 'string' && status in STATUS_LABELS ? { status: status as CampaignStatus } : {}),
    ...pageSearch(search),
  };
}

export interface RecipientSearch extends PageSearch {
  state?: RecipientState;
  email?: string;
}

export function recipientSearch({ state, email, ...search }: Record<string, unknown>): RecipientSearch {
  return {
    ...(typeof state === 'string' && state in RECIPIENT_WORDS ? { state: state as RecipientState } : {}),
    ...(typeof email === 'string' && email !== '' ? { email } : {}),
    ...pageSearch(search),
  };
}
