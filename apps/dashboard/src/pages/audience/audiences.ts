import { useApiQuery } from '../../data/api-query.ts';
import { everyPageOf } from '../../data/every-page.ts';
import { graphql } from '../../generated/gql.ts';

const AUDIENCES = graphql(`
  query Audiences($after: String) {
    groups(first: 1000, after: $after) {
      nodes {
        id
        name
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    segments(first: 100) {
      nodes {
        id
        name
      }
    }
  }
`);

const allGroups = everyPageOf('groups');

/** All groups and segments of the project. */
export const useAudiences = () => useApiQuery(AUDIENCES, {}, { ask: allGroups });
