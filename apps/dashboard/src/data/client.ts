import { cacheExchange, Client, fetchExchange, mapExchange } from '@urql/core';

/** Called when the server reports that the session has ended, or that the user may not do what the page offers. */
let onRefused = { unauthorized: (_isChange: boolean) => {}, forbidden: (_isChange: boolean) => {} };

export function setRefusalHandlers(handlers: typeof onRefused): void {
  onRefused = handlers;
}

const clients = new Map<string, Client>();

/** The client of a project. Each has its own cache, so projects never mix. `''` means no project. */
export function clientFor(projectId: string): Client {
  const known = clients.get(projectId);
  if (known !== undefined) return known;
  const client = new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetchOptions: { headers: projectId === '' ? {} : { 'X-Project-Id': projectId }, credentials: 'same-origin' },
    exchanges: [
      mapExchange({
        onError: (error, { kind }) => {
          const codes = error.graphQLErrors.map((each) => each.extensions.code);
          if (codes.includes('unauthorized')) onRefused.unauthorized(kind === 'mutation');
          if (codes.includes('forbidden')) onRefused.forbidden(kind === 'mutation');
        },
      }),
      cacheExchange,
      fetchExchange,
    ],
  });
  clients.set(projectId, client);
  return client;
}

/** Clears all caches on sign-out. */
export function clearClients(): void {
  clients.clear();
}
