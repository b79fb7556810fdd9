/**
 * Commits per second of a statement that notifies subscribers within its transaction, and of one whose process notifies them
 * afterwards (`notifySoon`), over the same connections to an embedded PostgreSQL with a subscriber. Rounds alternate between them; the
 * medians are printed, with the number of notifications that arrived in a second.
 * Run: npm run bench -- notifications [--connections 32] [--seconds 3] [--rounds 3]
 */
import { parseArgs } from 'node:util';
import { startDatabase } from './database.ts';
import { median } from './median.ts';

const { values: options } = parseArgs({
  options: {
    connections: { type: 'string', default: '32' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
  },
});
const CONNECTIONS = Number(options.connections);
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);

const database = await startDatabase();
Object.assign(process.env, { ...database.env, DATABASE_POOL: String(CONNECTIONS + 10) });
const { closeDatabase, listen, notifySoon, pool } = await import('@postroom/platform');
await pool.query('CREATE TABLE bench_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text)');
let arrived = 0;
const stopListening = await listen('bench', () => arrived++);

const INSERT = `INSERT INTO bench_rows (content) VALUES ($1)`;
const variants: Record<string, () => Promise<unknown>> = {
  'NOTIFY in the statement': () =>
    pool.query({
      name: 'notifying',
      text: `WITH added AS (${INSERT}) SELECT pg_notify('postroom', 'bench')`,
      values: ['x'],
    }),
  'NOTIFY afterwards': async () => {
    await pool.query({ name: 'inserting', text: INSERT, values: ['x'] });
    notifySoon('bench');
  },
};

const results = new Map<string, { commits: number; notifications: number }[]>();
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, commit] of Object.entries(variants)) {
    const began = performance.now();
    const until = began + SECONDS * 1000;
    let commits = 0;
    arrived = 0;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        for (; performance.now() < until; commits++) await commit();
      }),
    );
    const seconds = (performance.now() - began) / 1000;
    // The first round warms up.
    if (round === 0) continue;
    const result = { commits: commits / seconds, notifications: arrived / seconds };
    results.set(name, [...(results.get(name) ?? []), result]);
  }
}
for (const [name, rounds] of results) {
  const [commits, notifications] = (['commits', 'notifications'] as const).map((figure) =>
    Math.round(median(rounds.map((each) => each[figure]))),
  );
  console.log(`${name.padEnd(24)} ${commits} commits and ${notifications} notifications a second`);
}
await stopListening();
await closeDatabase();
await database.stop();
