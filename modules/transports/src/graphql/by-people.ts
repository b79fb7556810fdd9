/** The specification keeps what holds secrets to the dashboard: people who are signed in, never an API key. */
export const byPeople = { authScopes: { manage: true }, skipTypeScopes: true } as const;
