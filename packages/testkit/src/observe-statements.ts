import pg from 'pg';

/** A statement with its parameters, as `pg` takes it. */
export interface Statement {
  text: string;
  values: unknown[] | undefined;
}

/** As a property, which can be replaced. A spy of vitest forgets the calls of a test when the next one begins. */
const CLIENT = pg.Client.prototype as unknown as { query: (this: unknown, ...args: unknown[]) => unknown };

/** Calls `observe` with every statement that this process sends to PostgreSQL, before it is sent. @returns a function that ends this. */
export function observeStatements(observe: (statement: Statement) => void): () => void {
  const { query } = CLIENT;
  CLIENT.query = function (...args) {
    const [config, values] = args;
    if (typeof config === 'string') observe({ text: config, values: Array.isArray(values) ? values : undefined });
    else if (typeof config === 'object' && config !== null && 'text' in config) observe(config as Statement);
    return query.apply(this, args);
  };
  return () => {
    CLIENT.query = query;
  };
}
