/** PostgreSQL settings of a connection, with their units as PostgreSQL has them. */
export type ConnectionSettings = Readonly<Record<string, string | number>>;

/** Statements that set them: `SET` for a session, `SET LOCAL` for a transaction. */
export const assignments = (command: 'SET' | 'SET LOCAL', settings: ConnectionSettings) =>
  Object.entries(settings)
    .map(([name, value]) => `${command} ${name} = ${value}`)
    .join('; ');

/** After this time without traffic, the kernel probes whether the server is there: its machine may be gone without closing connections. */
export const KEEP_ALIVE_MS = 10_000;
