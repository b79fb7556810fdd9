import { created, deleted, deletes, found, gql, page, PAGE, PAGE_ARGS, type Route } from '@postroom/platform';

const tag = 'Templates';
const fields = 'id name subject body format source status version publishedVersion createdAt updatedAt';
const detail = `${fields} draft { number subject body format source authorId authorName createdAt }`;
const versionFields = 'id number subject body format source status restoredFrom authorId authorName createdAt';

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/templates',
    needs: 'full',
    tag,
    summary: 'List templates, newest first',
    document: gql`query (${PAGE_ARGS}, $search: String, $status: TemplateStatus) {
      templates(first: $limit, after: $cursor, search: $search, status: $status) { nodes { ${fields} } ${PAGE} }
    }`,
    reply: page('templates'),
  },
  {
    method: 'POST',
    path: '/v1/templates',
    needs: 'full',
    tag,
    summary: 'Create a template as a draft',
    document: gql`mutation ($input: CreateTemplateInput!) { createTemplate(input: $input) { ${detail} } }`,
    reply: created('createTemplate'),
    example: { name: 'Welcome', subject: 'Hello {{name|there}}', body: '<p>Hello {{name|there}}, welcome.</p>' },
  },
  {
    method: 'GET',
    path: '/v1/templates/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve a template',
    document: gql`query ($id: ID!) { template(id: $id) { ${detail} } }`,
    reply: found('template'),
  },
  {
    method: 'PATCH',
    path: '/v1/templates/{id}',
    needs: 'full',
    tag,
    summary: 'Update a template; of a published one, its draft',
    document: gql`mutation ($id: ID!, $input: UpdateTemplateInput!) { updateTemplate(id: $id, input: $input) { ${detail} } }`,
    reply: found('updateTemplate'),
    example: { subject: 'Welcome, {{name|friend}}' },
  },
  {
    method: 'POST',
    path: '/v1/templates/{id}/publish',
    needs: 'full',
    tag,
    summary: 'Publish a template, or the draft of a published one',
    document: gql`mutation ($id: ID!) { publishTemplate(id: $id) { ${detail} } }`,
    reply: found('publishTemplate'),
  },
  {
    method: 'DELETE',
    path: '/v1/templates/{id}/draft',
    needs: 'full',
    tag,
    summary: 'Discard the draft of a published template',
    document: gql`
      mutation ($id: ID!) {
        discardTemplateDraft(id: $id) {
          id
        }
      }
    `,
    reply: deleted(),
    errors: ['conflict'],
  },
  {
    method: 'GET',
    path: '/v1/templates/{id}/versions',
    needs: 'full',
    tag,
    summary: 'List the versions of a template, newest first',
    document: gql`query ($id: ID!, ${PAGE_ARGS}) {
      templateVersions(id: $id, first: $limit, after: $cursor) {
        nodes { ${versionFields} }
        ${PAGE}
      }
    }`,
    reply: page('templateVersions'),
  },
  {
    method: 'GET',
    path: '/v1/templates/{id}/versions/{version_id}',
    needs: 'full',
    tag,
    summary: 'Retrieve a version of a template',
    document: gql`query ($id: ID!, $versionId: ID!) {
      templateVersion(id: $id, versionId: $versionId) { ${versionFields} }
    }`,
    reply: found('templateVersion'),
  },
  {
    method: 'POST',
    path: '/v1/templates/{id}/versions/{version_id}/restore',
    needs: 'full',
    tag,
    summary: 'Restore a version of a template as a new version; of a published template, as its draft',
    document: gql`mutation ($id: ID!, $versionId: ID!) {
      restoreTemplateVersion(id: $id, versionId: $versionId) { ${detail} }
    }`,
    reply: found('restoreTemplateVersion'),
  },
  {
    method: 'DELETE',
    path: '/v1/templates/{id}',
    needs: 'full',
    tag,
    summary: 'Delete a template',
    ...deletes('deleteTemplate', 'templateDelete'),
  },
];
