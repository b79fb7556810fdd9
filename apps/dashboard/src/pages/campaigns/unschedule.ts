import { graphql } from '../../generated/gql.ts';

export const UNSCHEDULE = graphql(`
  mutation UnscheduleCampaign($id: ID!) {
    unscheduleCampaign(id: $id) {
      id
    }
  }
`);
