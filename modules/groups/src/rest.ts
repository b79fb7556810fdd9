import { created, deleted, deletes, found, gql, page, PAGE, PAGE_ARGS, type Route } from '@postroom/platform';

const tag = 'Groups';
const GROUP = 'id name contactIds contactCount';
const DETAIL = 'id name memberCount contacts { id: contactId email name }';

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/groups',
    needs: 'full',
    tag,
    summary: 'List groups, newest first',
    document: gql`query (${PAGE_ARGS}, $search: String) {
      groups(first: $limit, after: $cursor, search: $search) { nodes { ${GROUP} } ${PAGE} }
    }`,
    reply: page('groups'),
  },
  {
    method: 'POST',
    path: '/v1/groups',
    needs: 'full',
    tag,
    summary: 'Create a group of existing contacts',
    document: gql`mutation ($input: CreateGroupInput!) { createGroup(input: $input) { ${GROUP} } }`,
    reply: created('createGroup'),
    example: { name: 'Beta testers', emails: ['ada@example.com'] },
  },
  {
    method: 'GET',
    path: '/v1/groups/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve a group and its members that still exist',
    document: gql`query ($id: ID!) { group(id: $id) { ${DETAIL} } }`,
    reply: found('group'),
  },
  {
    method: 'PATCH',
    path: '/v1/groups/{id}',
    needs: 'full',
    tag,
    summary: 'Rename a group or replace its members',
    document: gql`mutation ($id: ID!, $input: UpdateGroupInput!) { updateGroup(id: $id, input: $input) { ${GROUP} } }`,
    reply: found('updateGroup'),
    example: { name: 'Early adopters' },
  },
  {
    method: 'POST',
    path: '/v1/groups/{id}/contacts',
    needs: 'full',
    tag,
    summary: 'Add contacts to a group',
    document: gql`mutation ($id: ID!, $input: AddContactsInput!) { addContactsToGroup(id: $id, input: $input) { matched group { ${DETAIL} } } }`,
    reply: found('addContactsToGroup.group', { beside: { matched: 'addContactsToGroup.matched' } }),
    example: { emails: ['ada@example.com'] },
  },
  {
    method: 'DELETE',
    path: '/v1/groups/{id}',
    needs: 'full',
    tag,
    summary: 'Delete a group and keep its contacts',
    ...deletes('deleteGroup', 'groupDelete'),
  },
  {
    method: 'DELETE',
    path: '/v1/groups/{id}/contacts/{contact_id}',
    needs: 'full',
    tag,
    summary: 'Remove a contact from a group and keep the contact',
    document: gql`
      mutation removeContactFromGroup($id: ID!, $contactId: ID!) {
        groupRemoveContacts(id: $id, contactIds: [$contactId]) {
          removed
        }
      }
    `,
    reply: deleted({ count: 'groupRemoveContacts.removed', message: 'This contact is not a member of the group.' }),
  },
  {
    method: 'GET',
    path: '/v1/contacts/{id}/groups',
    needs: 'full',
    tag,
    summary: 'List the groups of a contact, newest first',
    document: gql`query ($id: ID!, ${PAGE_ARGS}) {
      groups(contactId: $id, first: $limit, after: $cursor) { nodes { id name contactCount } ${PAGE} }
    }`,
    reply: page('groups'),
  },
];
