/**
 * Moves a project between two databases of one PostgreSQL, and says for how long it was away. Run: npm run bench -- move-project [contacts]
 * [messages per contact] [runs]. Each message has two events, every tenth has an open.
 */
import pg from 'pg';
import { startDatabase } from './database.ts';

const CONTACTS = Number(process.argv[2] ?? 100_000);
const MESSAGES_EACH = Number(process.argv[3] ?? 10);
const RUNS = Number(process.argv[4] ?? 3);

const database = await startDatabase();
const targetUrl = Object.assign(new URL(database.url), { pathname: '/other' }).href;
await query(database.url, 'CREATE DATABASE other TEMPLATE postroom');
Object.assign(process.env, database.env);
const { newId } = await import('@postroom/platform');
const { moveProject } = await import('../apps/worker/src/move/move.ts');

async function query(url: string, text: string, values: unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text, values).finally(() => client.end());
}

async function seed(): Promise<string> {
  const [projectId, campaign] = [newId('prj'), newId('cmp')];
  const on = (text: string, values: unknown[]) => query(database.url, text, values);
  await on('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await on(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, custom_fields)
     SELECT postroom_id('ctc'), $1, 'c' || i || '@mail.test', 'c' || i || '@mail.test', 'Reader ' || i, 'api', '{"city":"Bergen"}'
     FROM generate_series(1, $2::int) i`,
    [projectId, CONTACTS],
  );
  for (let nth = 0; nth < MESSAGES_EACH; nth++) {
    await on(`INSERT INTO campaigns (id, project_id, name, status) VALUES ($1, $2, 'News', 'completed')`, [
      campaign.slice(0, -2) + String(nth).padStart(2, '0'),
      projectId,
    ]);
    await on(
      `WITH sent AS (
         INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at, delivered_at)
         SELECT postroom_id('eml'), $1, $2, id, email, 'accepted', now(), now() FROM contacts WHERE project_id = $1 RETURNING id, email
       ), told AS (
         INSERT INTO events (id, project_id, type, data)
         SELECT postroom_id('evt'), $1, type, json_build_object('message_id', id, 'email', email, 'campaign_id', $2::text)
         FROM sent, unnest('{email.sent,email.delivered}'::text[]) AS type
       )
       INSERT INTO tracking_hits (message_id, project_id, kind, at, verdict)
       SELECT id, $1, 'open', now(), 'person' FROM sent WHERE substr(id, 30, 1) IN ('0', '1', '2')`,
      [projectId, campaign.slice(0, -2) + String(nth).padStart(2, '0')],
    );
  }
  await on('ANALYZE', []);
  return projectId;
}

for (let nth = 1; nth <= RUNS; nth++) {
  const projectId = await seed();
  const clients = [database.url, targetUrl].map((connectionString) => new pg.Client({ connectionString }));
  await Promise.all(clients.map((client) => client.connect()));
  const [source, target] = clients as [pg.Client, pg.Client];
  const started = performance.now();
  const seconds = () => Number(((performance.now() - started) / 1000).toFixed(1));
  let [gone, back] = [0, 0];
  await moveProject({
    source,
    target,
    projectId,
    from: 'home',
    to: 'other',
    drainMs: 10_000,
    findDisagreement: () => Promise.resolve(undefined),
    post: () => Promise.resolve(),
    endWorkflows: () => Promise.resolve(),
    report: (step) => {
      if (step.startsWith('Draining')) gone = seconds();
      if (step.startsWith('Requests go to')) back = seconds();
      console.log(`  ${seconds()} s: ${step}`);
    },
  });
  await Promise.all(clients.map((client) => client.end()));
  console.log(`run ${nth}: away for ${(back - gone).toFixed(1)} of ${seconds()} s`);
}
await database.stop();
process.exit(0);
