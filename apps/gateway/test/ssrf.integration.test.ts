import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { config, pool } from '@postroom/platform';
import { type SignedIn, signedIn, testApi } from '@postroom/testkit';
import { afterEach, expect, test } from 'vitest';

const { webhookScope, providerScope } = config;
afterEach(() => Object.assign(config, { webhookScope, providerScope }));

const CREATE = `mutation ($input: MailProviderInput!) { createMailProvider(input: $input) { id status statusReason } }`;
const ses = (endpoint: string) => ({
  region: 'eu-west-1',
  accessKeyId: 'AKIAEXAMPLE',
  secretAccessKey: 'secret',
  topicArn: 'arn:aws:sns:eu-west-1:123456789012:events',
  endpoint,
});

/** Every place where a tenant configures an address to connect to: the request, and the field that an error names. */
const USERS: Record<string, { field: string; document: string; variables: (host: string) => Record<string, unknown> }> =
  {
    'a webhook': {
      field: 'url',
      document: 'mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret } }',
      variables: (host) => ({ input: { url: `https://${host}/hook`, events: ['*'] } }),
    },
    'an SMTP relay': {
      field: 'smtp.host',
      document: CREATE,
      variables: (host) => ({ input: { name: 'Relay', smtp: { host: host.replace(/[[\]]/g, ''), tls: 'optional' } } }),
    },
    'an endpoint of SES': {
      field: 'ses.endpoint',
      document: CREATE,
      variables: (host) => ({ input: { name: 'SES', ses: ses(`https://${host}`) } }),
    },
    'a mailbox account': {
      field: 'host',
      document: 'mutation ($input: ConnectMailboxInput!) { connectMailbox(input: $input) { account { id } } }',
      variables: (host) => ({
        input: {
          email: 'me@example.com',
          password: 'x',
          provider: 'other',
          signIn: 'password',
          host: host.replace(/[[\]]/g, ''),
        },
      }),
    },
  };

const words = (text: string) => text.trim().split(/\s+/);

const BLOCKED = words(`
    127.0.0.1 10.0.0.5 192.168.1.1 169.254.169.254 192.88.99.1 [::1] [fd00::1] [fec0::1] [64:ff9b::7f00:1]
    [64:ff9b:1::7f00:1] [::ffff:127.0.0.1] [::ffff:0:7f00:1] [2001:0:7f00:1::] [2002:7f00:1::] [::127.0.0.1]
  `);

let owner: SignedIn | undefined;

test.each(Object.entries(USERS))(
  '%s at a non-public address is rejected, without naming the address',
  async (_, user) => {
    Object.assign(config, { webhookScope: 'public', providerScope: 'public' });
    owner ??= await signedIn(await testApi(), 'admin');
    for (const host of BLOCKED) {
      const { body } = await owner.graphql(user.document, user.variables(host));
      expect(body.errors?.[0].extensions.details, `${host} ${JSON.stringify(body)}`).toMatchObject([
        { field: user.field, message: expect.stringMatching(/^must not (be|point to) a private or reserved address$/) },
      ]);
    }
  },
);

test('a relay, SES and a mailbox whose name resolves to loopback are not connected to, and the error names no address', async () => {
  const api = await testApi();
  const person = await signedIn(api, 'admin');
  let connections = 0;
  const server = createServer((socket) => void (connections++, socket.destroy()));
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  Object.assign(config, { providerScope: 'public' });
  const reasons: string[] = [];
  for (const input of [
    { name: 'Relay', smtp: { host: 'localhost', port, tls: 'optional' } },
    { name: 'SES', ses: ses(`https://localhost:${port}`) },
  ]) {
    const { id } = (await person.graphql(CREATE, { input })).body.data.createMailProvider;
    const document = 'mutation ($id: ID!) { testMailProvider(id: $id) { status statusReason } }';
    const { status, statusReason } = (await person.graphql(document, { id })).body.data.testMailProvider;
    expect(status).toBe('failing');
    reasons.push(statusReason);
  }
  const mailbox = await person.graphql(
    `mutation ($input: ConnectMailboxInput!) { connectMailbox(input: $input) { account { id } } }`,
    {
      input: {
        email: 'you@example.com',
        password: 'x',
        provider: 'other',
        signIn: 'password',
        host: 'localhost',
        port,
      },
    },
  );
  const { rows } = await pool.query('SELECT status_reason FROM mailbox_accounts WHERE id = $1', [
    mailbox.body.data.connectMailbox.account.id,
  ]);
  reasons.push(rows[0].status_reason);
  for (const reason of reasons) {
    expect(reason).toContain('localhost resolves to a private or reserved address');
    expect(reason).not.toMatch(/127\.|::1/);
  }
  expect(connections).toBe(0);
  await new Promise((resolve) => server.close(resolve));
});
