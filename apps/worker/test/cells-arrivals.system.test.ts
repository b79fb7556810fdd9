import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@postroom/platform';
import {
  createDatabase,
  endProgram,
  eventually,
  freePorts,
  fromSources,
  ready,
  type SmtpSink,
  startSmtpSink,
  type SystemApi,
} from '@postroom/testkit';
import { unsubscribeUrl } from '@postroom/unsubscribe';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseOf, quotedPrintable, useTwoCells } from './two-cells.ts';

let sink: SmtpSink;
const cells = useTwoCells(async () => {
  sink = await startSmtpSink();
  return sink.url;
});
/** The ports of the SMTP servers of `home`. */
let ports: { submission: number; bounces: number };
beforeAll(async () => {
  ports = { submission: await cells.home.startSubmission(), bounces: await cells.home.startBounces() };
}, 60_000);
afterAll(() => sink.close());

test(
  'a project is not moved to a cell with another secret key, or to a database of another cell',
  { timeout: 240_000 },
  async () => {
    const { home, eu, settings, move } = cells;
    const { projectId } = await home.api();
    const key = () => randomBytes(32).toString('base64');
    // A gateway of the other cell that was set up wrong.
    const misled = async (env: Record<string, string>) => {
      const [port, admin] = (await freePorts(2)).map(String);
      const CELL_GATEWAYS = `home=${home.url}, eu=http://127.0.0.1:${port}`;
      const gateway = await ready(
        'gateway',
        fromSources('gateway', {
          ...process.env,
          ...settings,
          NODE_ENV: 'test',
          LOG_LEVEL: 'silent',
          CELL: 'eu',
          DATABASE_URL: databaseOf(eu),
          GATEWAY_PORT: port,
          ADMIN_PORT: admin,
          ...env,
        }),
      );
      const { printed, status } = await move(projectId, { env: { CELL_GATEWAYS } });
      await endProgram(gateway, 'SIGKILL');
      expect(status).toBe(1);
      return printed;
    };
    expect(await misled({ POSTROOM_SECRET_KEY: key() })).toContain('have another POSTROOM_SECRET_KEY');
    // It can verify what the other one signs, but encrypts with a key that the other one lacks.
    const { POSTROOM_SECRET_KEY: shared = '' } = process.env;
    expect(await misled({ POSTROOM_SECRET_KEY: key(), POSTROOM_SECRET_KEY_PREVIOUS: shared })).toMatch(
      /The secret keys of the cells differ: home has \w{8}, and eu has \w{8}, \w{8}/,
    );
    expect(await misled({ PUBLIC_URL: 'http://other.example' })).toContain('PUBLIC_URL is');
    const stranger = await createDatabase('stranger');
    const wrong = await move(projectId, { env: { TARGET_DATABASE_URL: stranger.url } });
    await stranger.drop();
    expect([wrong.status, wrong.printed]).toEqual([
      1,
      expect.stringContaining('TARGET_DATABASE_URL is not the database that the gateways of eu use'),
    ]);
    const source = await move(projectId, { env: { DATABASE_URL: databaseOf(eu) } });
    expect([source.status, source.printed]).toEqual([
      1,
      expect.stringContaining('Another process is moving or deleting this project'),
    ]);
    const silent = await move(projectId, { env: { CELL_GATEWAYS: `home=${home.url}, eu=http://127.0.0.1:1` } });
    expect([silent.status, silent.printed]).toEqual([1, expect.stringContaining('cannot be reached')]);
    const { rows } = await home.pool.query('SELECT FROM project_cells WHERE project_id = $1', [projectId]);
    expect(rows).toEqual([]);
  },
);

/** Submits a mail to `home`. @returns its reply. */
async function submit(pass: string, mail: SendMailOptions = {}, user = 'postroom'): Promise<string> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: ports.submission,
    tls: { rejectUnauthorized: false },
    auth: { user, pass },
  });
  try {
    const letter = { from: 'news@example.com', to: 'ada@mail.test', subject: 'Hello', text: 'Hello', ...mail };
    return (await transport.sendMail(letter)).response;
  } catch (error) {
    return String((error as { response?: string }).response ?? error);
  } finally {
    transport.close();
  }
}

/** Delivers a bounce to `home`. */
async function bounce(to: string, lines: readonly string[]): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: ports.bounces, ignoreTLS: true });
  try {
    const raw = ['From: MAILER-DAEMON@relay.test', `To: ${to}`, 'Subject: Undelivered', ...lines, ''].join('\r\n');
    return (await transport.sendMail({ envelope: { from: '', to: [to] }, raw })).response;
  } catch (error) {
    return String((error as { response?: string }).response ?? error);
  } finally {
    transport.close();
  }
}

const failure = (address: string) => [
  'MIME-Version: 1.0',
  'Content-Type: multipart/report; report-type=delivery-status; boundary="b1"',
  '',
  '--b1',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; relay.test',
  '',
  `Final-Recipient: rfc822; ${address}`,
  'Action: failed',
  'Status: 5.1.1',
  `Diagnostic-Code: smtp; 550 5.1.1 <${address}>: Recipient address rejected`,
  '--b1--',
];

const complaint = (quoted: string) => [
  'MIME-Version: 1.0',
  'Content-Type: multipart/report; report-type=feedback-report; boundary="b1"',
  '',
  '--b1',
  'Content-Type: message/feedback-report',
  '',
  'Feedback-Type: abuse',
  'User-Agent: Test/1',
  'Version: 1',
  '--b1',
  'Content-Type: message/rfc822',
  '',
  quoted,
  '--b1--',
];

/** Sends mail, and waits until the relay has it. */
async function mailTo(api: SystemApi, to: string) {
  const { body } = await api.post('/v1/emails', {
    from: 'news@example.com',
    to: [to],
    subject: 'Hello',
    html: '<p><a href="https://example.com/there">Hello</a></p>',
    track_opens: true,
    track_clicks: true,
  });
  const mail = await eventually(() => {
    const found = sink.mails.find((each) => each.to === to);
    expect(found).toBeDefined();
    return found!;
  }, 30_000);
  return { id: body.data.id as string, from: mail.from, raw: quotedPrintable(mail.raw) };
}

/** What a project has that leads to it from outside: rows as they are when the project moves. */
async function prepare(api: SystemApi, userId: string) {
  const { pool } = cells.home;
  await pool.query(
    `UPDATE domains SET mail_from_domain = 'bounce.example.com', mail_from = 'verified' WHERE project_id = $1`,
    [api.projectId],
  );
  await pool.query(`INSERT INTO members (project_id, user_id, role) VALUES ($1, $2, 'owner')`, [api.projectId, userId]);
  const [token, mailbox] = [randomBytes(24).toString('base64url'), newId('mbx')];
  await pool.query(
    `INSERT INTO mail_providers (id, project_id, domain, name, kind, settings, token) VALUES ($1, $2, 'ses.example', 'SES', 'ses', '{"region":"eu-west-1","topicArn":"arn:aws:sns:eu-west-1:1:a"}', $3)`,
    [newId('prv'), api.projectId, token],
  );
  await pool.query(
    `INSERT INTO mailbox_accounts (id, project_id, email, email_key, provider, host, port, implicit_tls, username, sign_in, credentials,
       per_minute, daily_cap, updated_at)
     VALUES ($1, $2, 'ada@gmail.com', 'ada@gmail.com', 'gmail', 'smtp.gmail.com', 465, true, 'ada@gmail.com', 'oauth2', 'none', 10, 100, now())`,
    [mailbox, api.projectId],
  );
  const form = await api.post('/v1/forms', {
    name: 'Newsletter',
    title: 'Subscribe',
    consent_text: 'I agree.',
    from: 'news@example.com',
  });
  expect([form.status, form.body]).toEqual([201, expect.anything()]);
  const authorize = async () => {
    const state = randomBytes(32).toString('base64url');
    await pool.query(
      `INSERT INTO mailbox_authorizations (id, mailbox_id, user_id, verifier, expires_at) VALUES ($1, $2, $3, 'none', now() + interval '1 hour')`,
      [createHash('sha256').update(state).digest('hex'), mailbox, userId],
    );
    return state;
  };
  return { token, form: form.body.data.id as string, states: [await authorize(), await authorize()] as const };
}

test(
  'what comes in at one cell and is for a project of another gets there: submitted mail, bounces, notifications, sign-ins, forms, links',
  { timeout: 240_000 },
  async () => {
    const { home, eu, move, signIn } = cells;
    const [api, other] = [await home.api(), await home.api()];
    const { rows: users } = await home.pool.query<{ id: string }>('SELECT id FROM users');
    const prepared = await prepare(api, users[0]!.id);
    await eventually(async () => {
      // Domains are remembered for a moment.
      expect((await mailTo(api, `warm${Date.now()}@mail.test`)).from).toContain('@bounce.example.com');
    }, 30_000);
    const [failing, complaining, deleted, read, leaving] = [
      await mailTo(api, 'failing@mail.test'),
      await mailTo(api, 'complaining@mail.test'),
      await mailTo(api, 'deleted@mail.test'),
      await mailTo(api, 'reader@mail.test'),
      await mailTo(api, 'leaving@mail.test'),
    ];

    // While it is being moved, clients are asked to try again.
    await home.pool.query(
      `INSERT INTO project_cells (project_id, cell, state, move_id) VALUES ($1, 'eu', 'moving', 'test')`,
      [api.projectId],
    );
    expect(await submit(api.key)).toMatch(/^454 4\.7\.0 This project is being moved/);
    await home.pool.query('DELETE FROM project_cells WHERE project_id = $1', [api.projectId]);

    // Mailbox providers post an unsubscribe once, so it is not refused, and applies in the new cell.
    await move(api.projectId, { killAt: 'The fence is closed' });
    await unsubscribe(api, { id: leaving.id, email: 'leaving@mail.test' });
    const { printed, status } = await move(api.projectId);
    expect([status, printed]).toEqual([0, expect.stringContaining('is in eu')]);
    expect(printed).toContain('Posted 1 request that came meanwhile');
    await eu.pool.query('DELETE FROM messages WHERE id = $1', [deleted.id]);

    await expectSubmissions(api, other);

    expect(await bounce(failing.from, failure('failing@mail.test'))).toMatch(/^250/);
    expect(await bounce('fbl@bounce.example.com', complaint(`Return-Path: <${complaining.from}>`))).toMatch(/^250/);
    expect(await bounce(deleted.from, failure('deleted@mail.test'))).toMatch(/^250/);
    expect(await bounce('fbl@bounce.unknown.example', [''])).toMatch(/^550/);
    const { rows: suppressed } = await eu.pool.query<{ email: string; reason: string }>(
      'SELECT email, reason FROM suppressions WHERE project_id = $1 ORDER BY email',
      [api.projectId],
    );
    expect(suppressed.map(({ email, reason }) => [email, reason])).toEqual([
      ['complaining@mail.test', 'complained'],
      ['deleted@mail.test', 'bounced'],
      ['failing@mail.test', 'bounced'],
      ['leaving@mail.test', 'unsubscribed'],
    ]);
    expect((await home.pool.query('SELECT FROM suppressions')).rowCount).toBe(0);

    // The other cell has the provider, and finds that its topic is another one.
    const topic = {
      Type: 'Notification',
      MessageId: '1',
      TopicArn: 'other',
      Message: '',
      Timestamp: new Date().toISOString(),
      SignatureVersion: '2',
      SigningCertURL: 'https://example.com',
      Signature: '',
    };
    const notify = (token: string) =>
      fetch(`${home.url}/providers/ses/${token}`, { method: 'POST', body: JSON.stringify(topic) });
    const refused = await notify(prepared.token);
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('topic does not match')]);
    expect((await notify('unknown')).status).toBe(404);

    // The provider leads the browser of the user who has signed in to the first cell back there.
    const comeBack = async (state: string, headers: Record<string, string>) => {
      const response = await fetch(`${home.url}/providers/mailbox/callback?state=${state}&error=access_denied`, {
        headers: { 'sec-fetch-site': 'cross-site', ...headers },
      });
      return [response.status, await response.text()] as const;
    };
    const [state, second] = prepared.states;
    expect(await comeBack(state, {})).toEqual([401, expect.stringContaining('Sign in first')]);
    const cookie = await signIn();
    expect(await comeBack(state, { cookie })).toEqual([400, expect.stringContaining('did not grant access')]);
    expect((await comeBack(state, { cookie }))[0]).toBe(404);
    await eu.pool.query(`UPDATE members SET role = 'viewer' WHERE project_id = $1`, [api.projectId]);
    expect((await comeBack(second, { cookie }))[0]).toBe(403);

    const form = await fetch(`${home.url}/f/${prepared.form}`);
    expect([form.status, await form.text()]).toEqual([200, expect.stringContaining('Subscribe')]);
    await expectLinks(read, api);
  },
);

/** Mail that is submitted to the first cell is sent by that of the project, once. */
async function expectSubmissions(api: SystemApi, other: SystemApi): Promise<void> {
  const { eu, home } = cells;
  const calendar = { contentType: 'text/calendar; method=REQUEST', content: 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n' };
  const many = Array.from({ length: 60 }, (_, index) => `many${index}@mail.test`);
  const { message: raw } = await createTransport({ streamTransport: true, buffer: true }).sendMail({
    from: 'news@example.com',
    to: many,
    subject: 'Hello',
    text: 'Hällo',
    html: '<p>Hällo</p>',
    alternatives: [calendar],
    attachments: [{ filename: 'a.bin', content: Buffer.from([0, 255, 10, 13]) }],
  });
  const mail = { envelope: { from: 'news@example.com', to: many }, raw };
  const reply = await submit(api.key, mail);
  expect(reply).toMatch(/^250 2\.0\.0 eml_\w+ queued in 2 messages/);
  // The client lost the reply.
  expect(await submit(api.key, mail)).toBe(reply);
  expect(await submit(api.key, { to: 'named@mail.test' }, api.projectId)).toMatch(/^250/);
  await eventually(() => {
    for (const to of [...many, 'named@mail.test']) expect([to, sink.counts().get(to)]).toEqual([to, 1]);
  }, 30_000);
  const sent = sink.mails.find(({ to }) => to === 'many0@mail.test')?.raw ?? '';
  expect([sent.includes('text/calendar; method=REQUEST'), sent.includes('a.bin')]).toEqual([true, true]);
  expect((await eu.pool.query('SELECT FROM messages WHERE project_id = $1', [api.projectId])).rowCount).toBeGreaterThan(
    60,
  );
  expect((await home.pool.query('SELECT FROM messages WHERE project_id = $1', [api.projectId])).rowCount).toBe(0);
  expect(await submit(api.key, { from: 'me@elsewhere.example' })).toMatch(/^550 5\.[67]\.\d .*elsewhere\.example/);
  expect(await submit(other.key, {}, api.projectId)).toMatch(/^535 /);
  expect(await submit(`${api.key.slice(0, -1)}${api.key.endsWith('x') ? 'y' : 'x'}`)).toMatch(/^535 /);
  expect(await submit(other.key, { to: 'other@mail.test' })).toMatch(/^250/);
}

/** Links in mail that left before the move. */
async function expectLinks({ id, raw }: { id: string; raw: string }, api: SystemApi): Promise<void> {
  const link = (pattern: RegExp) => pattern.exec(raw)?.[0] ?? `no link in ${raw}`;
  expect((await fetch(link(/http:\S+?\/t\/o\/[\w.-]+/))).status).toBe(200);
  const click = await fetch(link(/http:\S+?\/t\/c\/[\w.-]+/), { redirect: 'manual' });
  expect(click.headers.get('location')).toBe('https://example.com/there');
  await eventually(async () => {
    const { rows } = await cells.eu.pool.query('SELECT kind FROM tracking_hits WHERE message_id = $1 ORDER BY kind', [
      id,
    ]);
    expect(rows).toEqual([{ kind: 'open' }, { kind: 'click' }]);
  }, 10_000);
  await unsubscribe(api, { id, email: 'reader@mail.test' });
  const { rows } = await cells.eu.pool.query(
    `SELECT reason FROM suppressions WHERE project_id = $1 AND email = 'reader@mail.test'`,
    [api.projectId],
  );
  expect(rows).toEqual([{ reason: 'unsubscribed' }]);
}

/** Posts an unsubscribe to the first cell, as a mailbox provider does. */
async function unsubscribe({ projectId }: SystemApi, { id, email }: { id: string; email: string }): Promise<void> {
  const { pathname } = new URL(unsubscribeUrl(id, { projectId, email }));
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  const response = await fetch(cells.home.url + pathname, { method: 'POST', body });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('You are unsubscribed')]);
}
