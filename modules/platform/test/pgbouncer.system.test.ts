import { setInterval, setTimeout as delay } from 'node:timers/promises';
import {
  eventually,
  findPgBouncer,
  type PgBouncer,
  type Receiver,
  type SmtpSink,
  startPgBouncer,
  startReceiver,
  startSmtpSink,
  startSystem,
  type System,
  type SystemApi,
} from '@postroom/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransactionsOnly } from '../src/transaction-mode.ts';

const RECIPIENTS = 300;
/** Contacts in a request. */
const BATCH = 400;
/** Of the campaign that is sent while the pooler is restarted. */
const MORE_RECIPIENTS = 800;
/** The time between two transactional emails, in milliseconds. */
const INTERVAL_MS = 50;
/** How long the mail server takes for a message then, in milliseconds. */
const MAIL_MS = 80;
/** Fewer than one program has, so that transactions of several programs take turns on each of them. */
const SERVER_CONNECTIONS = 5;

const program = findPgBouncer();

// Skipped where PgBouncer is not installed: it is not an npm package. CI installs it.
describe.skipIf(program === undefined)('behind PgBouncer in transaction mode', () => {
  let pooler: PgBouncer;
  let sink: SmtpSink;
  let receiver: Receiver;
  let system: System;

  beforeAll(async () => {
    pooler = await startPgBouncer(program ?? '', process.env.DATABASE_URL ?? '', SERVER_CONNECTIONS);
    [sink, receiver] = await Promise.all([startSmtpSink(), startReceiver()]);
    system = await startSystem({ smtpUrl: sink.url, pooler });
    await system.startWorker();
  }, 120_000);

  afterAll(async () => {
    await system.stop();
    await Promise.all([sink.close(), receiver.close()]);
    await pooler.stop();
  });

  /** Starts a campaign to this many new contacts. Returns its path. */
  async function startCampaign(api: SystemApi, name: string, recipients: number): Promise<string> {
    const contacts = Array.from({ length: recipients }, (_, index) => ({ email: `reader${index}@mail.test` }));
    for (let from = 0; from < recipients; from += BATCH)
      expect(
        (await api.post('/v1/contacts/batch', { contacts: contacts.slice(from, from + BATCH) })).status,
      ).toBeLessThan(300);
    const group = await api.post('/v1/groups', { name: 'All', emails: contacts.map(({ email }) => email) });
    const campaign = await api.post('/v1/campaigns', {
      name,
      subject: 'News',
      from_email: 'news@example.com',
      html: '<p>Hello</p>',
      group_ids: [group.body.data.id],
    });
    const path = `/v1/campaigns/${campaign.body.data.id}`;
    expect((await api.post(`${path}/send`)).status).toBe(202);
    return path;
  }

  /** The ids of the `email.sent` events that arrived. */
  const toldSent = () =>
    new Set(receiver.received.filter(({ event }) => event.type === 'email.sent').map(({ event }) => event.id));

  test('a campaign, transactional mail and webhooks are sent exactly once, over fewer connections than one program has', async () => {
    const api = await system.api();
    await api.post('/v1/webhooks', {
      url: receiver.url,
      events: ['campaign.completed', 'email.sent', 'contact.created'],
    });
    const path = await startCampaign(api, 'Pooled', RECIPIENTS);
    const single = { from: 'news@example.com', to: ['one@mail.test'], subject: 'Receipt', html: '<p>Thanks</p>' };
    const emails = await Promise.all(
      Array.from({ length: 20 }, (_, index) => api.post('/v1/emails', { ...single, to: [`one${index}@mail.test`] })),
    );
    expect(emails.map(({ status }) => status)).toEqual(emails.map(() => 202));
    let most = 0;
    await eventually(async () => {
      const { rows } = await system.pool.query<{ used: number }>(
        `SELECT count(*)::int AS used FROM pg_stat_activity
           WHERE datname = current_database() AND application_name IN ('postroom-gateway', 'postroom-worker') AND query NOT LIKE 'LISTEN%'`,
      );
      most = Math.max(most, rows[0]?.used ?? 0);
      expect((await api.get(path)).body.data.status).toBe('completed');
      expect(sink.mails).toHaveLength(RECIPIENTS + 20);
      expect(receiver.received.map(({ event }) => event.type)).toContain('campaign.completed');
      expect(toldSent().size).toBe(RECIPIENTS + 20);
    }, 90_000);
    expect([...sink.counts().values()].every((count) => count === 1)).toBe(true);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(SERVER_CONNECTIONS);
  }, 120_000);

  test(
    'sending goes on by itself, and no mail is lost or sent twice, when the pooler is reloaded, paused, killed and restarted',
    { timeout: 240_000 },
    async () => {
      sink.reset(async () => delay(MAIL_MS));
      receiver.received.length = 0;
      const api = await system.api();
      await api.post('/v1/webhooks', { url: receiver.url, events: ['email.sent', 'campaign.completed'] });
      const path = await startCampaign(api, 'Restarted', MORE_RECIPIENTS);

      const answers: { to: string; status: number }[] = [];
      const sending: Promise<unknown>[] = [];
      const stopped = new AbortController();
      const load = (async () => {
        for await (const _ of setInterval(INTERVAL_MS, undefined, { signal: stopped.signal })) {
          const to = `one${sending.length}@mail.test`;
          const email = { from: 'news@example.com', to: [to], subject: 'Receipt', html: '<p>Thanks</p>' };
          sending.push(api.post('/v1/emails', email).then(({ status }) => answers.push({ to, status })));
        }
      })().catch(() => {}); // ends by the abort
      const accepted = () => answers.filter(({ status }) => status === 202);
      const goesOn = async () => {
        const before = { accepted: accepted().length, mails: sink.mails.length };
        await eventually(() => {
          expect(accepted().length).toBeGreaterThan(before.accepted + 20);
          expect(sink.mails.length).toBeGreaterThan(before.mails + 20);
        }, 30_000);
      };
      await goesOn();
      await pooler.command('RELOAD');
      await goesOn();
      await pooler.command('RECONNECT');
      await goesOn();
      await pooler.command('PAUSE');
      const waiting = () => sending.length - answers.length;
      await eventually(() => expect(waiting()).toBeGreaterThan(40));
      await pooler.command('RESUME');
      await goesOn();
      await pooler.kill();
      const before = answers.length;
      await eventually(() =>
        expect(answers.slice(before).filter(({ status }) => status === 503).length).toBeGreaterThan(40),
      );
      await pooler.restart();
      await goesOn();
      stopped.abort();
      await load;
      await Promise.all(sending);

      for (const { status } of answers) expect([202, 503]).toContain(status);
      await eventually(async () => {
        expect((await api.get(path)).body.data.status).toBe('completed');
        const sent = sink.counts();
        expect([...sent.keys()].filter((to) => to.startsWith('reader'))).toHaveLength(MORE_RECIPIENTS);
        expect(accepted().filter(({ to }) => !sent.has(to))).toEqual([]);
        expect(toldSent().size).toBe(sink.mails.length);
        expect(receiver.received.map(({ event }) => event.type)).toContain('campaign.completed');
      }, 90_000);
      expect([...sink.counts()].filter(([, count]) => count > 1)).toEqual([]);
    },
  );

  test('settings hold for the transactions of a pool, and do not leak to others', async () => {
    const url = pooler.urlOf(process.env.DATABASE_URL ?? '');
    const settings = { statement_timeout: 1234, enable_seqscan: 'off' };
    const ours = new pg.Pool({
      connectionString: url,
      max: 3,
      onConnect: async (client) => inTransactionsOnly(client, settings),
    });
    const others = new pg.Pool({ connectionString: url, max: 3 });
    const shown = async (of: pg.Pool) => (await of.query('SHOW statement_timeout')).rows[0].statement_timeout;
    for (let round = 0; round < 5; round++) {
      const [mine, theirs] = await Promise.all([
        Promise.all([shown(ours), shown(ours), shown(ours)]),
        Promise.all([shown(others), shown(others), shown(others)]),
      ]);
      expect(mine).toEqual(['1234ms', '1234ms', '1234ms']);
      expect(theirs).toEqual(['0', '0', '0']);
    }
    // A prepared statement would exist on one of the server's connections only.
    const named = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        ours.query({ name: 'named', text: 'SELECT $1::int AS n', values: [index] }),
      ),
    );
    expect(named.map(({ rows }) => rows[0].n)).toEqual(named.map((_, index) => index));
    await expect(ours.query('SELECT 1 / 0')).rejects.toThrow('division by zero');
    await expect(ours.query('SELECT pg_sleep(5)')).rejects.toMatchObject({ code: '57014' });
    const client = await ours.connect();
    await client.query('BEGIN');
    await client.query('CREATE TEMPORARY TABLE seen ON COMMIT DROP AS SELECT 1 AS n');
    expect((await client.query('SELECT n FROM seen')).rows).toEqual([{ n: 1 }]);
    expect((await client.query('SHOW enable_seqscan')).rows).toEqual([{ enable_seqscan: 'off' }]);
    await client.query('ROLLBACK');
    client.release();
    await Promise.all([ours.end(), others.end()]);
  });
});
