import { eventually, type SingleSignOn, startSingleSignOn, type System } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const OWNER = 'owner@people.example';

/** The provider's accounts, by username. */
const CLAIMS: Record<string, object> = {
  owner: { email: OWNER, email_verified: true, name: 'Olive Owner' },
  impostor: { email: OWNER, email_verified: false, name: 'Olive Owner' },
  pretender: { email: OWNER, email_verified: 'false', name: 'Olive Owner' },
  stranger: { email: 'stranger@people.example', email_verified: true, name: 'S' },
  'look-alike': { email: OWNER.replace('o', '\uff4f'), email_verified: true, name: 'Olive Owner' },
  list: { email: [OWNER], email_verified: true, name: 'Olive Owner' },
  victim: { email: 'victim@people.example', email_verified: true, name: 'Vera Victim' },
};

let signOn: SingleSignOn;
let system: System;

beforeAll(async () => {
  signOn = await startSingleSignOn(OWNER, CLAIMS);
  ({ system } = signOn);
});
afterAll(() => signOn.stop());

test('people see what the provider is called; one that was not there when the gateway started is asked again', async () => {
  const methods = async () => (await fetch(`${system.url}/app/auth/methods`)).json();
  await eventually(async () => expect(await methods()).toEqual({ oidc: { name: 'Acme' } }));
});

test('linking an account to the provider leaves no password, second factor or session of before', async () => {
  const { rows } = await system.pool.query<{ id: string }>(
    `INSERT INTO users (id, email, name, email_verified, two_factor_enabled, updated_at)
     VALUES ('usr_victim', 'victim@people.example', 'Set up by somebody else', true, false, now()) RETURNING id`,
  );
  const id = rows[0]?.id;
  await system.pool.query(
    `INSERT INTO accounts (id, account_id, provider_id, user_id, password, updated_at)
     SELECT 'acc_victim', $1, 'credential', $1, password, now() FROM accounts JOIN users ON users.id = user_id WHERE email = $2`,
    [id, OWNER],
  );
  // An intruder who knows the password is signed in, has set up an authenticator, and has a password reset link.
  const intruder = new Browser();
  const password = 'correct horse battery';
  const inByPassword = () =>
    new Browser().send(`${system.url}/app/auth/sign-in/email`, { email: 'victim@people.example', password });
  await intruder.send(`${system.url}/app/auth/sign-in/email`, { email: 'victim@people.example', password });
  expect((await graphql(intruder, '{ me { id } }')).data.me.id).toBe(id);
  await system.pool.query(
    `INSERT INTO two_factors (id, secret, backup_codes, user_id) VALUES ('fac_victim', 's', '[]', $1)`,
    [id],
  );
  await system.pool.query('UPDATE users SET two_factor_enabled = true WHERE id = $1', [id]);
  await system.pool.query(
    `INSERT INTO verifications (id, identifier, value, expires_at, updated_at)
     VALUES ('ver_victim', 'reset-password:known', $1, now() + interval '1 hour', now())`,
    [id],
  );

  const victim = new Browser();
  expect((await signIn(victim, 'victim')).pathname).toBe('/p/wanted');
  expect((await graphql(victim, '{ me { id twoFactorEnabled } }')).data.me).toEqual({ id, twoFactorEnabled: false });
  expect((await graphql(intruder, '{ me { id } }')).errors[0].extensions.code).toBe('unauthorized');
  expect((await inByPassword()).status).toBe(401);
  const reset = { newPassword: 'a password of mine', token: 'known' };
  expect((await new Browser().send(`${system.url}/app/auth/reset-password`, reset)).status).toBe(400);
  const left = await system.pool.query(
    `SELECT provider_id FROM accounts WHERE user_id = $1 UNION ALL SELECT 'factor' FROM two_factors WHERE user_id = $1`,
    [id],
  );
  expect(left.rows).toEqual([{ provider_id: 'oidc' }]);
  // The second time, nothing is revoked.
  await signIn(new Browser(), 'victim');
  expect((await graphql(victim, '{ me { id } }')).data.me.id).toBe(id);
});

test('a person whose address the provider verified is signed in to the account with that address, again and again', async () => {
  for (let time = 0; time < 2; time++) {
    const browser = new Browser();
    const landed = await signIn(browser, 'owner');
    expect(landed.pathname + landed.search).toBe('/p/wanted');
    const { data } = await graphql(browser, '{ me { email } mySessions { current } }');
    expect(data.me).toEqual({ email: OWNER });
  }
  const { rows } = await system.pool.query(
    `SELECT account_id FROM accounts a JOIN users u ON u.id = a.user_id WHERE provider_id = 'oidc' AND email = $1`,
    [OWNER],
  );
  expect(rows).toEqual([{ account_id: 'owner' }]);
});

test.each([
  ['an unverified address', 'impostor', 'account_not_linked'],
  ['an address whose verification is told in other words than yes', 'pretender', 'account_not_linked'],
  ['a look-alike of an address', 'look-alike', 'account_not_linked'],
  ['an address that is no text', 'list', 'email_not_found'],
  ['an address that nobody was invited under', 'stranger', 'signup_disabled'],
])('%s opens no account and makes none', async (_name, login, error) => {
  const before = await accounts();
  const browser = new Browser();
  const landed = await signIn(browser, login);
  expect(landed.pathname).toBe('/sign-in');
  expect(landed.searchParams.get('error')).toBe(error);
  expect((await graphql(browser, '{ me { email } }')).errors[0].extensions.code).toBe('unauthorized');
  expect(await accounts()).toEqual(before);
});

test('a sign-in whose state is gone, because it took too long, ends at the sign-in page', async () => {
  const url = `${system.url}/app/auth/callback/oidc?code=late&state=gone`;
  const { status, headers } = await new Browser().send(url);
  expect([status, headers.get('location')]).toEqual([302, expect.stringContaining('/sign-in?error=')]);
});

async function accounts(): Promise<unknown[]> {
  const { rows } = await system.pool.query(
    'SELECT u.id, u.email, a.provider_id, a.account_id FROM users u JOIN accounts a ON a.user_id = u.id ORDER BY 1, 3, 4',
  );
  return rows;
}

/** Signs in and consents at the provider; returns the final URL. */
async function signIn(browser: Browser, login: string): Promise<URL> {
  const begun = await begin(browser);
  const { url } = (await begun.json()) as { url: string };
  let at = new URL(url);
  for (let step = 0; step < 20; step++) {
    if (at.origin === system.url && !at.pathname.startsWith('/app/auth/')) return at;
    const response = await browser.send(at.href);
    const location = response.headers.get('location');
    if (location !== null) at = new URL(location, at);
    else at = await browser.submit(await response.text(), at, login);
  }
  throw new Error(`The browser goes in circles at ${at.href}`);
}

const begin = (browser: Browser) =>
  browser.send(`${system.url}/app/auth/sign-in/social`, {
    provider: 'oidc',
    callbackURL: '/p/wanted',
    errorCallbackURL: '/sign-in',
  });

async function graphql(browser: Browser, query: string) {
  const response = await browser.send(`${system.url}/graphql`, { query });
  // Tests check the shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  return (await response.json()) as any;
}

/** A minimal browser: cookies by origin, manual redirects, and forms. */
class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  async send(url: string, json?: object): Promise<Response> {
    return this.#send(url, json === undefined ? {} : { body: JSON.stringify(json), type: 'application/json' });
  }

  /** Submits the form on one of the provider's pages. */
  async submit(page: string, at: URL, login: string): Promise<URL> {
    const [, action = ''] = /action="([^"]+)"/.exec(page) ?? [];
    const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(page) ?? [];
    const body = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login, password: 'any' } : {}) });
    const form = { body: body.toString(), type: 'application/x-www-form-urlencoded' };
    const response = await this.#send(new URL(action, at).href, form);
    return new URL(response.headers.get('location') ?? '', at);
  }

  async #send(url: string, { body, type }: { body?: string; type?: string }): Promise<Response> {
    const { origin } = new URL(url);
    const cookies = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, cookies);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie, Origin: origin, ...(type === undefined ? {} : { 'Content-Type': type }) },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  }
}
