import { useApiQuery } from '../../data/api-query.ts';
import { everyPageOf } from '../../data/every-page.ts';
import { graphql } from '../../generated/gql.ts';

const TEMPLATE_CHOICES = graphql(`
  query TemplateChoices($after: String) {
    templates(first: 1000, after: $after) {
      nodes {
        id
        name
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const allTemplates = everyPageOf('templates');

/** All templates of the project. */
export const useTemplateChoices = () => useApiQuery(TEMPLATE_CHOICES, {}, { ask: allTemplates });
