import { found, gql, type Route } from '@postroom/platform';

const tag = 'Contacts';

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/contacts/{id}/data',
    needs: 'full',
    tag,
    summary: 'Retrieve everything that is kept of a person',
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
    summary: 'Erase a person: of the address only a hash is kept',
    deprecated:
      'Answers 403 to every API key: owners and admins erase people, signed in, in the dashboard or with the GraphQL mutation `erasePerson`.',
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
