import { graphql } from '../../generated/gql.ts';

/** Subscribes to import progress. */
export const IMPORT_PROGRESS = graphql(`
  subscription ImportProgress($id: ID!) {
    importProgress(id: $id) {
      id
    }
  }
`);
