import { found, gql, type Route } from '@postroom/platform';

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/projects',
    needs: 'full',
    project: 'none',
    tag: 'Projects',
    summary: 'List the projects the key can act on',
    document: gql`
      query {
        projects {
          id
          name
          postalAddress
          createdAt
        }
      }
    `,
    reply: found('projects'),
  },
];
