import type pg from 'pg';
import { assignments, type ConnectionSettings } from './connection-settings.ts';

/** `pg.ClientBase.query` in all its forms: of a text or an object, with a callback as the last argument or a promise. */
type Send = (...args: unknown[]) => Promise<pg.QueryResult>;

/**
 * Adapts a connection to a pooler in transaction mode (PgBouncer), where two transactions may run on two connections of the server.
 * So settings are those of a transaction, which a single statement gets as well, and statements have no names: before
 * 1.21, PgBouncer doesn't know on which connection a name was prepared.
 */
export function inTransactionsOnly(client: pg.ClientBase, settings: ConnectionSettings): void {
  const send = client.query.bind(client) as Send;
  const opening = assignments('SET LOCAL', settings);
  let isOpen = false;

  async function begin(text: string): Promise<pg.QueryResult> {
    const results: unknown = await send(`${text}; ${opening}`);
    return (results as pg.QueryResult[])[0] as pg.QueryResult;
  }

  async function run(args: unknown[]): Promise<pg.QueryResult> {
    const text = textOf(args[0]);
    if (/^\s*BEGIN\b/i.test(text)) {
      isOpen = true;
      return begin(text);
    }
    if (/^\s*(COMMIT|ROLLBACK)\s*;?\s*$/i.test(text)) {
      isOpen = false;
      return send(...args);
    }
    if (isOpen) return send(...args);
    await begin('BEGIN');
    try {
      const result = await send(...args);
      await send('COMMIT');
      return result;
    } catch (error) {
      await send('ROLLBACK').catch(() => {}); // the connection itself may have failed
      throw error;
    }
  }

  function query(...given: unknown[]): Promise<pg.QueryResult> | undefined {
    const last = given.at(-1);
    if (typeof last !== 'function') return run(unnamed(given));
    const callback = last as (error: unknown, result?: pg.QueryResult) => void;
    run(unnamed(given.slice(0, -1))).then(
      (result) => callback(null, result),
      (error: unknown) => callback(error),
    );
    return undefined;
  }

  Object.assign(client, { query });
}

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : ((query as { text?: string } | undefined)?.text ?? '');

/** The arguments without the name of the statement. */
function unnamed([query, ...rest]: unknown[]): unknown[] {
  if (typeof query !== 'object' || query === null) return [query, ...rest];
  return [{ ...query, name: undefined }, ...rest];
}
