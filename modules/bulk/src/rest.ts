import { created, found, gql, page, PAGE, PAGE_ARGS, type Route } from '@postroom/platform';

const tag = 'Contacts';
const OPERATION =
  'id action status total processed changed error groupId groupName cancelRequestedAt createdAt finishedAt';

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/bulk-operations',
    needs: 'full',
    tag,
    summary: 'List bulk operations, newest first',
    document: gql`query (${PAGE_ARGS}) {
      bulkOperations(first: $limit, after: $cursor) { nodes { ${OPERATION} } ${PAGE} }
    }`,
    reply: page('bulkOperations'),
  },
  {
    method: 'POST',
    path: '/v1/bulk-operations',
    needs: 'full',
    tag,
    summary: 'Change all contacts that match a filter, in the background',
    document: gql`mutation ($input: StartBulkOperationInput!) { startBulkOperation(input: $input) { ${OPERATION} } }`,
    reply: created('startBulkOperation'),
    errors: ['not_found'],
    example: {
      action: 'add_to_group',
      group_name: 'From Example',
      filter: { where: { field: 'email', op: 'contains', value: '@example.com' } },
    },
  },
  {
    method: 'GET',
    path: '/v1/bulk-operations/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve a bulk operation with its progress',
    document: gql`query ($id: ID!) { bulkOperation(id: $id) { ${OPERATION} } }`,
    reply: found('bulkOperation'),
  },
  {
    method: 'POST',
    path: '/v1/bulk-operations/{id}/cancel',
    needs: 'full',
    tag,
    summary: 'Cancel a bulk operation; contacts already processed stay as they are',
    document: gql`mutation ($id: ID!) { cancelBulkOperation(id: $id) { ${OPERATION} } }`,
    reply: found('cancelBulkOperation'),
  },
];
