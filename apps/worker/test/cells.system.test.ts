import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { config, newId } from '@postroom/platform';
import {
  eventually,
  freePorts,
  type Receiver,
  type SmtpSink,
  startReceiver,
  startSmtpSink,
  startSystem,
  type System,
  type SystemApi,
} from '@postroom/testkit';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runChecks } from '../../../scripts/doctor/checks.ts';

const RECIPIENTS = 1_500;
const OWNER = { POSTROOM_OWNER_EMAIL: 'owner@people.example', POSTROOM_OWNER_PASSWORD: 'correct horse battery' };

let sink: SmtpSink;
let receiver: Receiver;
let home: System;
let eu: System;
/** The settings of the cell `home`, for the mover. */
let settings: Record<string, string>;

beforeAll(async () => {
  sink = await startSmtpSink(() => sleep(20));
  receiver = await startReceiver();
  const [homePort, euPort] = (await freePorts(2)).map(String);
  const TEMPORAL_NAMESPACE = `eu-${newId('req')}`;
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  await connection.workflowService.registerNamespace({
    namespace: TEMPORAL_NAMESPACE,
    workflowExecutionRetentionPeriod: { seconds: 86_400 },
  } as never);
  await connection.close();
  settings = {
    CELL: 'home',
    CELL_GATEWAYS: `home=http://127.0.0.1:${homePort}, eu=http://127.0.0.1:${euPort}`,
    PUBLIC_URL: `http://127.0.0.1:${homePort}`,
    TRUSTED_PROXIES: '127.0.0.1',
    SYSTEM_MAIL_FROM: 'Postroom <postroom@example.com>',
  };
  home = await startSystem({ smtpUrl: sink.url, env: { ...settings, ...OWNER, GATEWAY_PORT: homePort! } });
  eu = await startSystem({
    smtpUrl: sink.url,
    env: { ...settings, CELL: 'eu', TEMPORAL_NAMESPACE, GATEWAY_PORT: euPort! },
  });
  await Promise.all([home.startWorker(), eu.startWorker()]);
}, 180_000);

afterAll(async () => {
  await Promise.all([home.stop(), eu.stop()]);
  await receiver.close();
  await sink.close();
});

const databaseOf = ({ pool }: System) =>
  (pool as unknown as { options: { connectionString: string } }).options.connectionString;

/** Runs `postroom move-project`, and kills it when it prints this. @returns what it printed, and its status. */
async function move(projectId: string, killAt?: string): Promise<{ printed: string; status: number | null }> {
  const program = join(import.meta.dirname, '../src/move/main.ts');
  const url = databaseOf(home);
  const env = {
    ...process.env,
    ...settings,
    DATABASE_URL: url,
    TARGET_DATABASE_URL: databaseOf(eu),
    TEMPORAL_TASK_QUEUE: new URL(url).pathname.slice(1),
  };
  const child = spawn(process.execPath, [program, projectId, '--to', 'eu'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  const read = (chunk: Buffer) => {
    printed += chunk.toString();
    if (killAt !== undefined && printed.includes(killAt)) child.kill('SIGKILL');
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const status = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { printed, status };
}

/** A campaign to many contacts, and an endpoint for all events. */
async function prepare(api: SystemApi): Promise<string> {
  const group = newId('grp');
  await home.pool.query(
    `WITH contact AS (
       INSERT INTO contacts (id, project_id, email, email_key, name, source)
       SELECT postroom_id('ctc'), $1, 'moved' || i || '@mail.test', 'moved' || i || '@mail.test', 'Reader', 'api'
       FROM generate_series(1, ${RECIPIENTS}) i RETURNING id
     ), made AS (INSERT INTO groups (id, project_id, name) VALUES ($2, $1, 'All'))
     INSERT INTO group_members (group_id, contact_id) SELECT $2, id FROM contact`,
    [api.projectId, group],
  );
  expect((await api.post('/v1/webhooks', { url: receiver.url, events: ['email.sent'] })).status).toBe(201);
  const { body } = await api.post('/v1/campaigns', {
    name: 'Moved',
    subject: 'News',
    from_email: 'news@example.com',
    html: '<p><a href="https://example.com/there">Hello</a></p>',
    group_ids: [group],
  });
  expect((await api.post(`/v1/campaigns/${body.data.id}/send`)).status).toBe(202);
  return body.data.id;
}

/** Posts emails all the time, as an integrator does that tries again after a 503. @returns how many were accepted once it is stopped. */
function keepPosting(api: SystemApi): { stop: () => Promise<{ accepted: number; refused: Set<number> }> } {
  let isOver = false;
  const refused = new Set<number>();
  const posting = (async () => {
    let accepted = 0;
    while (!isOver) {
      const { status } = await api.post('/v1/emails', {
        from: 'news@example.com',
        to: [`mail${accepted}@mail.test`],
        subject: 'Hello',
        text: 'Hello',
      });
      if (status === 202 || status === 200 || status === 201) accepted++;
      else refused.add(status);
      await sleep(100);
    }
    return accepted;
  })();
  return {
    stop: async () => {
      isOver = true;
      return { accepted: await posting, refused };
    },
  };
}

const quotedPrintable = (text: string) =>
  text.replaceAll('=\r\n', '').replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));

/** A link in the first mail of the campaign, which left before the move. */
function linkOf(pattern: RegExp): string {
  const raw = sink.mails.find(({ to }) => to.startsWith('moved'))?.raw ?? '';
  return pattern.exec(quotedPrintable(raw))?.[0] ?? `no link in ${raw}`;
}

test(
  'a project moves while its campaign is sent, its emails are accepted and its webhooks delivered: nothing is sent twice or lost, though the mover is killed',
  { timeout: 240_000 },
  async () => {
    const [api, other] = [await home.api(), await home.api()];
    const { rows: owners } = await home.pool.query<{ id: string }>('SELECT id FROM users');
    for (const { projectId } of [api, other])
      await home.pool.query(`INSERT INTO members (project_id, user_id, role) VALUES ($1, $2, 'owner')`, [
        projectId,
        owners[0]?.id,
      ]);
    const campaign = await prepare(api);
    const posting = keepPosting(api);
    await eventually(() => expect(sink.mails.length).toBeGreaterThan(RECIPIENTS * 0.2), 60_000);
    await move(api.projectId, 'Draining');
    await move(api.projectId, 'Copied and compared');
    await move(api.projectId, 'Requests go to eu');
    const { printed, status } = await move(api.projectId);
    expect([status, printed]).toEqual([0, expect.stringContaining('is in eu')]);
    // By the public host, with the same key, both before and after.
    await eventually(async () => {
      expect((await api.get(`/v1/campaigns/${campaign}`)).body.data.status).toBe('completed');
    }, 120_000);
    await sleep(1_000);
    const { accepted, refused } = await posting.stop();
    expect([...refused]).toEqual([503]);
    await eventually(() => expect(sink.mails.length).toBe(RECIPIENTS + accepted), 60_000);
    expect([...sink.counts().values()].filter((count) => count !== 1)).toEqual([]);
    const { progress } = (await api.get(`/v1/campaigns/${campaign}`)).body.data;
    expect(progress).toMatchObject({ accepted: RECIPIENTS, unknown: 0, failed: 0 });
    await eventually(() => expect(receiver.received.length).toBeGreaterThanOrEqual(RECIPIENTS + accepted), 60_000);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(receiver.received.length);
    expect(receiver.received.length).toBe(RECIPIENTS + accepted);
    expect((await home.pool.query('SELECT FROM messages WHERE project_id = $1', [api.projectId])).rowCount).toBe(0);
    await expectLinks(api);
    await expectIsolation(api, other, campaign);
    await expectSignedIn(api, other);
    const env = { ...process.env, ...settings, DATABASE_URL: databaseOf(home) };
    const finding = async (more = {}) =>
      (await runChecks({ ...env, ...more })).find(({ check }) => check === 'Cells')?.status;
    expect([await finding(), await finding({ CELL: 'other' })]).toEqual(['ok', 'failed']);
  },
);

/** Links of mail that left before the move work by the public host. */
async function expectLinks(api: SystemApi): Promise<void> {
  const click = await fetch(linkOf(/http:\S+?\/t\/c\/[\w.-]+/), { redirect: 'manual' });
  expect([click.status, click.headers.get('location')]).toEqual([302, 'https://example.com/there']);
  const page = await fetch(linkOf(/http:\S+?\/u\/[\w-]+/));
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('nsubscribe')]);
  await eventually(async () => {
    const { rows } = await eu.pool.query('SELECT verdict FROM tracking_hits WHERE project_id = $1', [api.projectId]);
    expect(rows.length).toBeGreaterThan(0);
  });
}

/** Projects of one cell are not_found, or forbidden, with the keys of another. */
async function expectIsolation(api: SystemApi, other: SystemApi, campaign: string): Promise<void> {
  const call = (key: string, path: string, headers: Record<string, string> = {}, url = home.url) =>
    fetch(url + path, { headers: { Authorization: `Bearer ${key}`, ...headers } }).then(({ status }) => status);
  const path = `/v1/campaigns/${campaign}`;
  const stranger = await eu.api();
  expect({
    own: await call(api.key, path),
    inItsCell: await call(api.key, path, {}, eu.url),
    ofHome: await call(other.key, path),
    ofHomeNamed: await call(other.key, path, { 'X-Project-Id': api.projectId }),
    ofEu: await call(stranger.key, path),
    ofEuByHome: await call(stranger.key, '/v1/campaigns'),
    theOtherWay: await call(api.key, '/v1/campaigns', { 'X-Project-Id': other.projectId }),
    stream: await call(other.key, '/v1/contacts/export', { 'X-Project-Id': api.projectId }),
    unknown: await call(`${api.key.slice(0, -1)}${api.key.endsWith('x') ? 'y' : 'x'}`, path),
    forged: await call(api.key, path, { 'X-Postroom-Cell': 'e30.AAAA' }),
    asked: await call(api.key, `/app/cells/message/${newId('eml')}`),
  }).toEqual({
    own: 200,
    inItsCell: 200,
    ofHome: 404,
    ofHomeNamed: 401,
    ofEu: 404,
    ofEuByHome: 200,
    theOtherWay: 401,
    stream: 401,
    unknown: 401,
    forged: 403,
    asked: 404,
  });
}

/** A person signs in once, and works in the projects of both cells. */
async function expectSignedIn(api: SystemApi, other: SystemApi): Promise<void> {
  const Origin = settings.PUBLIC_URL!;
  const signIn = async (email: string, password: string) => {
    const { headers } = await fetch(`${home.url}/app/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin },
      body: JSON.stringify({ email, password }),
    });
    return headers
      .getSetCookie()
      .map((each) => each.split(';', 1)[0])
      .join('; ');
  };
  const cookie = await signIn(OWNER.POSTROOM_OWNER_EMAIL, OWNER.POSTROOM_OWNER_PASSWORD);
  const query = async (document: string, projectId?: string, url = home.url, more: Record<string, string> = {}) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Origin,
        cookie,
        ...(projectId === undefined ? {} : { 'X-Project-Id': projectId }),
        ...more,
      },
      body: JSON.stringify({ query: document }),
    });
    return (await response.json()) as { data?: Record<string, unknown>; errors?: { extensions: { code: string } }[] };
  };
  const projects = await query('{ me { email } myProjects { role project { id name } } }');
  expect(projects.errors).toBeUndefined();
  expect(projects).toMatchObject({ data: { me: { email: OWNER.POSTROOM_OWNER_EMAIL } } });
  const ids = ((projects.data?.myProjects ?? []) as { role: string; project: { id: string } }[]).map(
    ({ role, project }) => [project.id, role],
  );
  expect(ids).toEqual(
    expect.arrayContaining([
      [api.projectId, 'owner'],
      [other.projectId, 'owner'],
    ]),
  );
  const counts = '{ contacts(first: 1) { totalCount } members { user { email } } }';
  expect((await query(counts, api.projectId)).data).toMatchObject({ contacts: { totalCount: RECIPIENTS } });
  expect((await query(counts, other.projectId)).data).toMatchObject({ contacts: { totalCount: 0 } });
  // A person who is invited to the project makes an account here, and joins there.
  await query('mutation { invite(input: { email: "new@people.example", role: member }) { id } }', api.projectId);
  const mail = await eventually(() => {
    const found = sink.mails.find(({ to }) => to === 'new@people.example');
    expect(found).toBeDefined();
    return quotedPrintable(found!.raw);
  });
  const [, token] = /invitation\?token=([\w-]+)/.exec(mail) ?? [];
  const asNew = { cookie: '' };
  const preview = await query(
    `{ invitationPreview(token: "${token}") { email hasAccount } }`,
    undefined,
    home.url,
    asNew,
  );
  expect(preview.data).toEqual({ invitationPreview: { email: 'new@people.example', hasAccount: false } });
  const accept = `mutation { invitationAccept(input: { token: "${token}", name: "New", password: "correct horse battery" }) { project { id } } }`;
  const joined = await query(accept, undefined, home.url, asNew);
  expect(joined.data).toEqual({ invitationAccept: { project: { id: api.projectId } } });
  const asMember = { cookie: await signIn('new@people.example', 'correct horse battery') };
  expect((await query(counts, api.projectId, home.url, asMember)).data).toMatchObject({
    contacts: { totalCount: RECIPIENTS },
  });
  expect((await query(counts, other.projectId, home.url, asMember)).errors?.[0]?.extensions.code).toBe('forbidden');
  // Who is no member, has not signed in there, or comes from another site gets nothing.
  const codeOf = async (...of: Parameters<typeof query>) => (await query(...of)).errors?.[0]?.extensions.code;
  const stranger = await eu.api();
  expect(await codeOf(counts, stranger.projectId)).toBe('forbidden');
  expect(await codeOf(counts, api.projectId, eu.url)).toBe('unauthorized');
  await eu.pool.query('DELETE FROM members WHERE project_id = $1', [api.projectId]);
  expect(await codeOf(counts, api.projectId)).toBe('forbidden');
  await home.pool.query('DELETE FROM sessions');
  expect(await codeOf(counts, api.projectId)).toBe('unauthorized');
}
