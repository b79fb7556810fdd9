// Creates a secret of every kind, or reads them all: a program, because a process has one set of keys (see
// rotate-encryption-key.system.test.ts).
import { parseReturnAddress, returnAddress } from '@postroom/bounces';
import { unsubscribeUrl } from '@postroom/unsubscribe';
import { closeDatabase, newId, pool, secretColumns } from '@postroom/platform';
import { signedIn, signIn, TEST_PASSWORD, testApi } from '@postroom/testkit';
import '../../../scripts/provide-programs.ts';
import '../src/rest/idempotency.ts';
import '../src/schema.ts';

/** Secrets held outside: by a recipient in a mail, and by a user's authenticator app. */
interface Outside {
  email: string;
  totp: string;
  unsubscribe: string;
  returns: string;
}

async function make(): Promise<Outside> {
  const api = await testApi();
  const person = await signedIn(api);
  const ask = async (query: string, variables: Record<string, unknown> = {}) => {
    const { body } = await person.graphql(query, variables);
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
    return Object.values(body.data)[0] as { account: { id: string } };
  };
  const body = { url: 'https://example.com/hook', events: ['*'] };
  const { data } = (await api.post('/v1/webhooks', body, { 'Idempotency-Key': 'once' })).body;
  await ask('mutation ($id: ID!) { rotateWebhookSecret(id: $id) }', { id: data.id });
  await ask(`mutation ($domain: String!) { addDomain(input: { domain: $domain }) { id } }`, {
    domain: `${newId('dom').slice(4)}.example.com`,
  });
  await ask(`mutation {
    createMailProvider(input: { name: "Relay", smtp: { host: "127.0.0.1", port: 2525, username: "u", password: "p" } }) { id }
  }`);
  const mailbox = await ask(`mutation {
    connectMailbox(input: { email: "ada@example.com", provider: gmail, signIn: oauth2, clientId: "id", clientSecret: "secret" }) { account { id } }
  }`);
  await ask('mutation ($id: ID!) { authorizeMailbox(id: $id) { account { id } } }', { id: mailbox.account.id });
  await ask('mutation { revealJourneySigningSecret { secret } }');
  const factor = await signInPage(api.url, person.cookie, 'two-factor/enable');
  const messageId = newId('eml');
  const to = { projectId: api.projectId, email: 'ada@example.com' };
  return {
    email: person.email,
    totp: factor.totpURI,
    unsubscribe: unsubscribeUrl(messageId, to),
    returns: returnAddress(messageId, 'bounces.example.com', to),
  };
}

async function signInPage(url: string, cookie: string, page: string): Promise<{ totpURI: string }> {
  const response = await fetch(`${url}/app/auth/${page}`, {
    method: 'POST',
    headers: { cookie, 'Content-Type': 'application/json', Origin: process.env.PUBLIC_URL ?? '' },
    body: JSON.stringify({ password: TEST_PASSWORD }),
  });
  if (!response.ok) throw new Error(`${page} was answered with ${response.status}: ${await response.text()}`);
  return (await response.json()) as { totpURI: string };
}

/** Reads every secret by column and row, and checks that outside secrets still work. */
async function read(outside: Outside) {
  const secrets: Record<string, string> = {};
  for (const { table, column, key, decrypt, envelopes = '%' } of secretColumns()) {
    const { rows } = await pool.query<{ key: string[]; sealed: string }>(
      `SELECT ARRAY[${key.join(', ')}] AS key, ${column} AS sealed FROM ${table} WHERE ${column} LIKE $1`,
      [envelopes],
    );
    for (const { key: values, sealed } of rows)
      secrets[`${table}.${column} ${values.join(' ')}`] = await decrypt(sealed, ...values);
  }
  const api = await testApi();
  const cookie = await signIn(api, outside.email, TEST_PASSWORD);
  const { totpURI } = await signInPage(api.url, cookie, 'two-factor/get-totp-uri');
  const page = await fetch(api.url + new URL(outside.unsubscribe).pathname);
  return {
    secrets,
    totp: totpURI,
    links: {
      unsubscribe: page.status,
      returns: parseReturnAddress(outside.returns) !== undefined,
    },
  };
}

const [, , outside] = process.argv;
const result = outside === undefined ? await make() : await read(JSON.parse(outside) as Outside);
process.send?.(result, undefined, undefined, () => {
  void closeDatabase().finally(() => process.exit(0));
});
