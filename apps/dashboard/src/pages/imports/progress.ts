import { graphql } from '../../generated/gql.ts';

/** Tells each time an import has come further. */
export const IMPORT_PROGRESS = graphql(`
  subscription ImportProgress($id: ID!) {
    importProgress(id: $id) {
      id
    }
  }
`);
