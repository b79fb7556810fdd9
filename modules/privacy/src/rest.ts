import { found, gql, type Route } from '@postroom/platform';

const tag = 'Contacts';

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/contacts/{id}/data',
    needs: 'full',
    tag,
    summary: 'Retrieve all stored data about a person',
    document: gql`
      query ($id: ID!) {
        personData(contactId: $id)
      }
    `,
    reply: found('personData'),
  },
  {
    method: 'POST',
    path: '/v1/contacts/{id}/erase',
    needs: 'full',
    tag,
    summary: 'Erase a person; only a hash of the address is kept',
    deprecated:
      'Returns 403 for every API key. Signed-in owners and admins erase people in the dashboard or with the GraphQL mutation `erasePerson`.',
    document: gql`
      mutation ($id: ID!) {
        erasePerson(contactId: $id) {
          messages
          events
          canceled
        }
      }
    `,
    reply: found('erasePerson'),
  },
];
