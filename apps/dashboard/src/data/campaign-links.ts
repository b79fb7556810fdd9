import { graphql } from '../generated/gql.ts';
import { useApiQuery } from './api-query.ts';

const LINKS = graphql(`
  query LinkChoices($id: ID!) {
    campaignLinks(id: $id) {
      position
      url
    }
  }
`);

/** The tracked links of a campaign; undefined until they are loaded, and without a campaign. */
export const useCampaignLinks = (campaignId: string | undefined) =>
  useApiQuery(LINKS, { id: campaignId ?? '' }, { pause: campaignId === undefined }).data?.campaignLinks;
