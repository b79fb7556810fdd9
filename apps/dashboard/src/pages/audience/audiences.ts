import { graphql } from '../../generated/gql.ts';

export const AUDIENCES = graphql(`
  query Audiences {
    groups(first: 500) {
      nodes {
        id
        name
        memberCount
      }
    }
    segments(first: 500) {
      nodes {
        id
        name
      }
    }
  }
`);
