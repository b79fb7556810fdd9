import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@postroom/platform';
import {
  addCampaign,
  eventually,
  type Receiver,
  type SmtpSink,
  startReceiver,
  startSmtpSink,
  type SystemApi,
} from '@postroom/testkit';
import { afterAll, expect, test } from 'vitest';
import { runChecks } from '../../../scripts/doctor/checks.ts';
import { databaseOf, OWNER, quotedPrintable, useTwoCells } from './two-cells.ts';

const RECIPIENTS = 1_500;
let sink: SmtpSink;
let receiver: Receiver;
const cells = useTwoCells(async () => {
  sink = await startSmtpSink(() => sleep(20));
  receiver = await startReceiver();
  return sink.url;
});

afterAll(async () => {
  await receiver.close();
  await sink.close();
});

/** A campaign to many contacts, and an endpoint for all events. */
async function prepare(api: SystemApi): Promise<string> {
  expect((await api.post('/v1/webhooks', { url: receiver.url, events: ['email.sent'] })).status).toBe(201);
  const campaign = await addCampaign(cells.home.pool, api, {
    name: 'moved',
    recipients: RECIPIENTS,
    html: '<p><a href="https://example.com/there">Hello</a></p>',
  });
  expect((await api.post(`/v1/campaigns/${campaign}/send`)).status).toBe(202);
  return campaign;
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

const EVENTS = 'subscription ($after: String) { eventRecorded(after: $after) { id cursor } }';

/** Follows the events of a project from a cursor, as an integrator does: when the stream ends, it reads on after the last cursor. */
function follow(key: string, start: string): { ids: string[]; stop: () => Promise<number> } {
  const [ids, stopping] = [[] as string[], new AbortController()];
  let [after, connections] = [start, 0];
  const reading = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const response = await fetch(`${cells.home.url}/graphql/stream`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${key}`,
            'Content-Type': 'application/json',
            Accept: 'text/event-stream',
          },
          body: JSON.stringify({ query: EVENTS, variables: { after } }),
          signal: stopping.signal,
        });
        if (response.ok) connections++;
        let text = '';
        for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
          text += chunk;
          for (let end; (end = text.indexOf('\n')) !== -1; text = text.slice(end + 1)) {
            const line = text.slice(0, end);
            const row = line.startsWith('data: {')
              ? JSON.parse(line.slice('data: '.length)).data?.eventRecorded
              : undefined;
            if (row === undefined) continue;
            ids.push(row.id);
            after = row.cursor;
          }
        }
      } catch {
        // It was cut off.
      }
      await sleep(200);
    }
  })();
  return {
    ids,
    stop: async () => {
      stopping.abort();
      await reading;
      return connections;
    },
  };
}

/** A link in the first mail of the campaign, which left before the move. */
function linkOf(pattern: RegExp): string {
  const raw = sink.mails.find(({ to }) => to.startsWith('moved'))?.raw ?? '';
  return pattern.exec(quotedPrintable(raw))?.[0] ?? `no link in ${raw}`;
}

test(
  'a project moves while its campaign is sent, its emails are accepted and its webhooks delivered: nothing is sent twice or lost, though the mover is killed',
  { timeout: 240_000 },
  async () => {
    const [api, other] = [await cells.home.api(), await cells.home.api()];
    const { rows: owners } = await cells.home.pool.query<{ id: string }>('SELECT id FROM users');
    for (const { projectId } of [api, other])
      await cells.home.pool.query(`INSERT INTO members (project_id, user_id, role) VALUES ($1, $2, 'owner')`, [
        projectId,
        owners[0]?.id,
      ]);
    const { body: start } = await api.post('/graphql', { query: '{ eventCursor }' });
    const events = follow(api.key, start.data.eventCursor);
    const campaign = await prepare(api);
    const posting = keepPosting(api);
    await eventually(() => expect(sink.mails.length).toBeGreaterThan(RECIPIENTS * 0.2), 60_000);
    await cells.move(api.projectId, { killAt: 'In advance' });
    await cells.move(api.projectId, { killAt: 'Draining' });
    await cells.move(api.projectId, { killAt: 'Copied and compared' });
    await cells.move(api.projectId, { killAt: 'Requests go to eu' });
    const { printed, status } = await cells.move(api.projectId);
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
    expect((await cells.home.pool.query('SELECT FROM messages WHERE project_id = $1', [api.projectId])).rowCount).toBe(
      0,
    );
    const { rows: recorded } = await cells.eu.pool.query<{ id: string }>(
      'SELECT id FROM events WHERE project_id = $1',
      [api.projectId],
    );
    await eventually(() => expect(events.ids.length).toBeGreaterThanOrEqual(recorded.length), 60_000);
    expect(await events.stop()).toBeGreaterThan(1);
    expect(events.ids.toSorted()).toEqual(recorded.map(({ id }) => id).toSorted());
    await expectLinks(api);
    await expectIsolation(api, other, campaign);
    await expectSignedIn(api, other);
    const env = { ...process.env, ...cells.settings, DATABASE_URL: databaseOf(cells.home) };
    const finding = async (more = {}) =>
      (await runChecks({ ...env, ...more })).find(({ check }) => check === 'Cells')?.status;
    const unreachable = `${cells.settings.CELL_GATEWAYS},far=http://127.0.0.1:9`;
    expect([await finding(), await finding({ CELL_GATEWAYS: unreachable })]).toEqual(['ok', 'failed']);
  },
);

/** Links of mail that left before the move work by the public host. */
async function expectLinks(api: SystemApi): Promise<void> {
  const click = await fetch(linkOf(/http:\S+?\/t\/c\/[\w.-]+/), { redirect: 'manual' });
  expect([click.status, click.headers.get('location')]).toEqual([302, 'https://example.com/there']);
  const page = await fetch(linkOf(/http:\S+?\/u\/[\w-]+/));
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('nsubscribe')]);
  await eventually(async () => {
    const { rows } = await cells.eu.pool.query('SELECT verdict FROM tracking_hits WHERE project_id = $1', [
      api.projectId,
    ]);
    expect(rows.length).toBeGreaterThan(0);
  });
}

/** Projects of one cell are not_found, or forbidden, with the keys of another. */
async function expectIsolation(api: SystemApi, other: SystemApi, campaign: string): Promise<void> {
  const call = (key: string, path: string, headers: Record<string, string> = {}, url = cells.home.url) =>
    fetch(url + path, { headers: { Authorization: `Bearer ${key}`, ...headers } }).then(({ status }) => status);
  const path = `/v1/campaigns/${campaign}`;
  const stranger = await cells.eu.api();
  expect({
    own: await call(api.key, path),
    inItsCell: await call(api.key, path, {}, cells.eu.url),
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
  const Origin = cells.settings.PUBLIC_URL!;
  const cookie = await cells.signIn();
  const query = async (
    document: string,
    projectId?: string,
    url = cells.home.url,
    more: Record<string, string> = {},
  ) => {
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
    cells.home.url,
    asNew,
  );
  expect(preview.data).toEqual({ invitationPreview: { email: 'new@people.example', hasAccount: false } });
  const accept = `mutation { invitationAccept(input: { token: "${token}", name: "New", password: "correct horse battery" }) { project { id } } }`;
  const joined = await query(accept, undefined, cells.home.url, asNew);
  expect(joined.data).toEqual({ invitationAccept: { project: { id: api.projectId } } });
  const asMember = { cookie: await cells.signIn('new@people.example', 'correct horse battery') };
  expect((await query(counts, api.projectId, cells.home.url, asMember)).data).toMatchObject({
    contacts: { totalCount: RECIPIENTS },
  });
  expect((await query(counts, other.projectId, cells.home.url, asMember)).errors?.[0]?.extensions.code).toBe(
    'forbidden',
  );
  await expectProfileFollows(api.projectId, (document) => query(document, undefined, cells.home.url, asMember));
  // Who is no member, has not signed in there, or comes from another site gets nothing.
  const codeOf = async (...of: Parameters<typeof query>) => (await query(...of)).errors?.[0]?.extensions.code;
  const stranger = await cells.eu.api();
  expect(await codeOf(counts, stranger.projectId)).toBe('forbidden');
  expect(await codeOf(counts, api.projectId, cells.eu.url)).toBe('unauthorized');
  await cells.eu.pool.query('DELETE FROM members WHERE project_id = $1', [api.projectId]);
  expect(await codeOf(counts, api.projectId)).toBe('forbidden');
  await cells.home.pool.query('DELETE FROM sessions');
  expect(await codeOf(counts, api.projectId)).toBe('unauthorized');
}

/** The name and the address of a member `new@people.example` change in the cell where they sign in, and in that of their project. */
async function expectProfileFollows(
  projectId: string,
  query: (document: string) => Promise<{ errors?: unknown }>,
): Promise<void> {
  const email = 'newer@people.example';
  const password = 'correct horse battery';
  const inEu = async () => {
    const { rows } = await cells.eu.pool.query(`SELECT name, email FROM users WHERE name LIKE 'New%'`);
    return rows[0];
  };
  await query('mutation { renameMe(name: "New Name") { id } }');
  expect(await inEu()).toEqual({ name: 'New Name', email: 'new@people.example' });
  await query(
    `mutation { emailChangeRequest(input: { email: "${email}", password: "${password}" }) { emailChange { email } } }`,
  );
  const mail = await eventually(() => {
    const found = sink.mails.find(({ to }) => to === email);
    expect(found).toBeDefined();
    return quotedPrintable(found!.raw);
  });
  const [, token] = /confirm-email\?token=([\w-]+)/.exec(mail) ?? [];
  const confirmed = await query(`mutation { emailChangeConfirm(token: "${token}") { user { email } } }`);
  expect(confirmed).toEqual({ data: { emailChangeConfirm: { user: { email } } } });
  expect(await inEu()).toEqual({ name: 'New Name', email });
  const { rows } = await cells.eu.pool.query(
    'SELECT changes FROM audit_entries WHERE project_id = $1 AND action = $2',
    [projectId, 'emailChangeConfirm'],
  );
  expect(rows).toEqual([{ changes: [{ field: 'email', before: 'new@people.example', after: email }] }]);
  // A cell that missed the change learns it when the projects are listed, and never teaches the cell where the user signs in.
  await cells.eu.pool.query(`UPDATE users SET email = 'missed@people.example' WHERE email = $1`, [email]);
  const ofEu = await fetch(`${cells.home.url}/graphql`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Origin: cells.settings.PUBLIC_URL!,
      cookie: await cells.signIn(email, password),
      'X-Project-Id': projectId,
    },
    body: JSON.stringify({ query: '{ me { email } myProjects { role } }' }),
  });
  expect(await ofEu.json()).toMatchObject({ data: { me: { email: 'missed@people.example' } } });
  await query('{ myProjects { role } }');
  expect(await inEu()).toEqual({ name: 'New Name', email });
  expect((await cells.home.pool.query('SELECT email FROM users WHERE email = $1', [email])).rows).toHaveLength(1);
}
