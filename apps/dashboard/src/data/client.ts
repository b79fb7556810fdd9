import { cacheExchange, Client, fetchExchange, mapExchange } from '@urql/core';

/** Told when the server says that nobody is signed in any more. */
let onSignedOut = () => {};

export function whenSignedOut(handler: () => void): void {
  onSignedOut = handler;
}

const clients = new Map<string, Client>();

/** The client of a project: each has its own cache, so that nothing of one shows in another. `''` is nobody's. */
export function clientFor(projectId: string): Client {
  const known = clients.get(projectId);
  if (known !== undefined) return known;
  const client = new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetchOptions: { headers: projectId === '' ? {} : { 'X-Project-Id': projectId }, credentials: 'same-origin' },
    exchanges: [
      mapExchange({
        onError: (error) => {
          if (error.graphQLErrors.some((each) => each.extensions.code === 'unauthorized')) onSignedOut();
        },
      }),
      cacheExchange,
      fetchExchange,
    ],
  });
  clients.set(projectId, client);
  return client;
}

/** Forgets what was read; for signing out. */
export function clearClients(): void {
  clients.clear();
}
