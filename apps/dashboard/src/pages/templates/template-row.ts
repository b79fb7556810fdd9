import { graphql } from '../../generated/gql.ts';
import type { TemplateQuery } from '../../generated/graphql.ts';

export const TEMPLATE = graphql(`
  query Template($id: ID!) {
    template(id: $id) {
      id
      name
      subject
      body
      format
      source
      status
      version
      publishedVersion
      draft {
        id
        subject
        body
        format
        source
      }
      scheduledCampaigns {
        id
        name
        scheduledAt
      }
      updatedAt
      editedById
      editedByName
    }
  }
`);

export type TemplateRow = TemplateQuery['template'];

/** The content to edit: the draft of a published template if there is one. */
export const newestOf = (template: TemplateRow) => template.draft ?? template;
