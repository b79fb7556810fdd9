import { config, pool } from '@postroom/platform';
import { type SignedIn, signedIn, testApi } from '@postroom/testkit';
import { afterEach, expect, test } from 'vitest';
import { ScriptedServer } from '@postroom/smtp/testing';
import { startSes } from './ses/fake-ses.ts';

const FIELDS = `id name kind domain position host port tls region configurationSet topicArn notificationUrl status statusReason`;
const CREATE = `mutation ($input: MailProviderInput!) { createMailProvider(input: $input) { ${FIELDS} } }`;
const UPDATE = `mutation ($id: ID!, $input: MailProviderInput!) { updateMailProvider(id: $id, input: $input) { ${FIELDS} } }`;
const TEST = `mutation ($id: ID!) { testMailProvider(id: $id) { ${FIELDS} } }`;
const LIST = `{ mailProviders { id name domain position } }`;

afterEach(() => {
  config.providerScope = 'loopback';
});

async function project() {
  const api = await testApi();
  return { api, owner: await signedIn(api, 'admin') };
}

async function run(person: SignedIn, mutation: string, variables: Record<string, unknown>) {
  const { body } = await person.graphql(mutation, variables);
  expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
  return Object.values(body.data)[0] as Record<string, string> & { id: string };
}

const RELAY = { host: 'smtp.example.com', username: 'postroom', password: 'relay secret' };

test('a relay is set up, changed and removed; its password is encrypted at rest and shown by nothing', async () => {
  const { owner } = await project();
  const made = await run(owner, CREATE, { input: { name: 'Relay', smtp: RELAY } });
  expect(made).toMatchObject({
    kind: 'smtp',
    domain: null,
    position: 1,
    host: 'smtp.example.com',
    port: 587,
    tls: 'starttls',
    notificationUrl: null,
    status: 'untested',
  });
  const row = async () => (await pool.query('SELECT * FROM mail_providers WHERE id = $1', [made.id])).rows[0];
  expect(JSON.stringify(await row())).not.toContain('relay secret');
  expect((await row()).credentials).toMatch(/^v2:/);
  const changed = await run(owner, UPDATE, { id: made.id, input: { name: 'Other', smtp: { port: 2525 } } });
  expect(changed).toMatchObject({ name: 'Other', host: 'smtp.example.com', port: 2525 });
  expect((await row()).credentials).toMatch(/^v2:/);
  expect((await row()).revision).toBe(2);
  const gone = await owner.graphql('mutation ($id: ID!) { deleteMailProvider(id: $id) }', { id: made.id });
  expect(gone.body.data).toEqual({ deleteMailProvider: true });
  expect((await owner.graphql(LIST)).body.data.mailProviders).toEqual([]);
});

test('a relay shows its settings except the password; null removes a limit, and an empty username disables authentication', async () => {
  const { owner } = await project();
  const shown = `mutation ($id: ID!, $input: MailProviderInput!) { updateMailProvider(id: $id, input: $input) {
    username connections messagesPerConnection ratePerSecond accessKeyId } }`;
  const limits = { connections: 4, messagesPerConnection: 50, ratePerSecond: 20 };
  const { id } = await run(owner, CREATE, { input: { name: 'Relay', smtp: { ...RELAY, ...limits } } });
  const change = async (smtp: object) => run(owner, shown, { id, input: { smtp } });
  expect(await change({ port: 2525 })).toEqual({ username: 'postroom', ...limits, accessKeyId: null });
  expect(await change({ ratePerSecond: null, connections: null })).toMatchObject({
    connections: null,
    messagesPerConnection: 50,
    ratePerSecond: null,
  });
  expect(await change({ username: '' })).toMatchObject({ username: null });
});

test('concurrent changes of different settings of a relay are all kept', async () => {
  const { owner } = await project();
  const { id } = await run(owner, CREATE, { input: { name: 'Relay', smtp: RELAY } });
  const changes = [{ port: 2525 }, { connections: 3 }, { messagesPerConnection: 7 }, { ratePerSecond: 9 }];
  await Promise.all(changes.map((smtp) => run(owner, UPDATE, { id, input: { smtp } })));
  const { rows } = await pool.query('SELECT settings FROM mail_providers WHERE id = $1', [id]);
  expect(rows[0].settings).toMatchObject(Object.assign({}, ...changes));
});

test('credentials whose key was lost are shown as unknown, and work again once they are entered again', async () => {
  const { owner } = await project();
  const { id } = await run(owner, CREATE, { input: { name: 'Relay', smtp: RELAY } });
  await pool.query(
    "UPDATE mail_providers SET credentials = regexp_replace(credentials, '^v2:[^:]+', 'v2:00000000') WHERE id = $1",
    [id],
  );
  const { body } = await owner.graphql('{ mailProviders { name username } }');
  expect(body).toEqual({ data: { mailProviders: [{ name: 'Relay', username: null }] } });
  expect(await run(owner, TEST, { id })).toMatchObject({
    status: 'failing',
    statusReason: expect.stringMatching(/Enter them again/),
  });
  // They must not be dropped without a word: the key may only be missing from the settings.
  for (const input of [{ name: 'Other' }, { smtp: { username: '' } }]) {
    const changed = await owner.graphql(UPDATE, { id, input });
    expect(changed.body.errors[0].extensions.details).toMatchObject([{ field: 'smtp.username' }]);
  }
  await run(owner, UPDATE, { id, input: { smtp: { username: 'postroom', password: 'relay secret' } } });
  expect((await owner.graphql('{ mailProviders { username } }')).body.data.mailProviders).toEqual([
    { username: 'postroom' },
  ]);
});

test('neither an API key nor a member sees or changes a mail provider', async () => {
  const { api } = await project();
  const member = await signedIn(api, 'member');
  const variables = { input: { name: 'Relay', smtp: RELAY } };
  for (const reply of [
    await api.graphql(CREATE, variables),
    await member.graphql(CREATE, variables),
    await api.graphql(LIST),
    await member.graphql(LIST),
  ]) {
    expect(reply.body.errors[0].extensions.code).toBe('forbidden');
  }
});

test('each bad field is named', async () => {
  const { owner } = await project();
  const fieldsOf = async (input: object) =>
    (await owner.graphql(CREATE, { input })).body.errors[0].extensions.details.map(
      ({ field }: { field: string }) => field,
    );
  expect(await fieldsOf({ name: 'Both', smtp: RELAY, ses: { region: 'eu-west-1' } })).toEqual(['smtp']);
  expect(await fieldsOf({ domain: 'example.org', smtp: { host: 'not a host', port: 0 } })).toEqual([
    'name',
    'domain',
    'smtp.host',
    'smtp.port',
  ]);
  expect(await fieldsOf({ name: 'SES', ses: { region: 'Mars', topicArn: 'arn', endpoint: 'ftp://x' } })).toEqual([
    'ses.region',
    'ses.topicArn',
    'ses.endpoint',
    'ses.accessKeyId',
    'ses.secretAccessKey',
  ]);
  expect(await fieldsOf({ name: 'Clear', smtp: { ...RELAY, tls: 'optional' } })).toEqual(['smtp.tls']);
});

test('where private addresses are not allowed, mail of projects goes to none, by name either', async () => {
  const { owner } = await project();
  await using server = await ScriptedServer.start();
  const byName = { name: 'By name', smtp: { host: 'localhost', port: server.port, tls: 'optional' } };
  const { id } = await run(owner, CREATE, { input: byName });
  config.providerScope = 'public';
  const refused = await owner.graphql(CREATE, { input: { name: 'By address', smtp: { host: '10.0.0.5' } } });
  expect(refused.body.errors[0].extensions.details).toMatchObject([{ field: 'smtp.host' }]);
  expect(await run(owner, TEST, { id })).toMatchObject({
    status: 'failing',
    statusReason: expect.stringContaining('private or reserved'),
  });
  expect(server.connections).toBe(0);
});

test('testing a relay signs in and sends nothing, and says what is wrong', async () => {
  const { owner } = await project();
  await using good = await ScriptedServer.start();
  await using bad = await ScriptedServer.start({ act: (stage) => (stage === 'greeting' ? '554 go away' : undefined) });
  for (const [server, expected] of [
    [good, { status: 'working', statusReason: null }],
    [bad, { status: 'failing', statusReason: '554 go away' }],
  ] as const) {
    const smtp = { host: '127.0.0.1', port: server.port, tls: 'optional' };
    const { id } = await run(owner, CREATE, { input: { name: 'Relay', smtp } });
    expect(await run(owner, TEST, { id })).toMatchObject(expected);
    expect(server.commands.some((line) => line.startsWith('MAIL'))).toBe(false);
  }
});

test('testing SES asks for the account; its events go to a URL that nobody can guess', async () => {
  const { owner } = await project();
  const ses = await startSes();
  const { region, accessKeyId, secretAccessKey, url: endpoint } = ses;
  const made = await run(owner, CREATE, {
    input: { name: 'SES', ses: { region, accessKeyId, secretAccessKey, endpoint, configurationSet: 'news' } },
  });
  expect(made).toMatchObject({ kind: 'ses', region, configurationSet: 'news', host: null });
  expect(made.notificationUrl).toMatch(/\/providers\/ses\/[\w-]{32}$/);
  expect(await run(owner, TEST, { id: made.id })).toMatchObject({ status: 'working' });
  await run(owner, UPDATE, { id: made.id, input: { ses: { secretAccessKey: 'wrong' } } });
  expect(await run(owner, TEST, { id: made.id })).toMatchObject({
    status: 'failing',
    statusReason: expect.stringContaining('InvalidSignatureException'),
  });
  await ses.close();
});

test('the events of SES are taken by the gateway', async () => {
  const { api } = await project();
  expect((await fetch(`${api.url}/providers/ses/nobody`, { method: 'POST', body: '{}' })).status).toBe(404);
  expect((await fetch(`${api.url}/providers/ses/nobody`)).status).toBe(405);
});
