import { generateKeyPairSync } from 'node:crypto';
import { startSes } from '@postroom/transports/testing';
import { newId, secretColumn } from '@postroom/platform';
import { eventually, mailSystem, type SystemApi } from '@postroom/testkit';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { expect, test } from 'vitest';

const { sink, system } = await mailSystem();

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const published = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;

/** Creates a key for the project's example.com, as adding a domain does. */
async function addKey(api: SystemApi): Promise<void> {
  const { rows } = await system.pool.query<{ id: string }>('SELECT id FROM domains WHERE project_id = $1', [
    api.projectId,
  ]);
  const id = rows[0]?.id ?? '';
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await system.pool.query('INSERT INTO dkim_keys (domain_id, selector, private_key) VALUES ($1, $2, $3)', [
    id,
    'pr1',
    secretColumn('dkim_keys', 'private_key', {
      context: (domainId, selector) => `dkim ${domainId} ${selector}`,
    }).encrypt(pem, id, 'pr1'),
  ]);
}

/** The result of an independent DKIM verifier for the mail to an address. */
async function verdictOf(to: string) {
  const raw = await eventually(() => {
    const mail = sink.mails.find((candidate) => candidate.to === to);
    if (mail === undefined) throw new Error(`Nothing has come for ${to} yet.`);
    return mail.raw;
  });
  const resolver = async (name: string) => (name === 'pr1._domainkey.example.com' ? [[published]] : []);
  const { results } = await dkimVerify(Buffer.from(raw, 'latin1'), { resolver });
  return results[0];
}

const HTML = '<p>Hello {{name|there}},\n.a dot begins this line,   with blanks  and Grüße 👋</p>';

test("mail is signed with the key of its sender's domain: one email, one with attachments, and a campaign", async () => {
  const api = await system.api();
  await addKey(api);
  const email = { from: 'Acme <hello@example.com>', subject: 'Grüße', html: HTML };
  await api.post('/v1/emails', { ...email, to: 'plain@mail.test' });
  const attachments = [{ filename: 'a.txt', content: Buffer.from('x\n.y\n').toString('base64') }];
  await api.post('/v1/emails', { ...email, to: 'attached@mail.test', attachments });
  await api.post('/v1/contacts', { email: 'campaign@mail.test', name: 'Zoë' });
  const group = await api.post('/v1/groups', { name: 'G', emails: ['campaign@mail.test'] });
  const campaign = await api.post('/v1/campaigns', {
    name: 'C',
    subject: 'Hi {{name}}',
    from_email: 'hello@example.com',
    html: HTML,
    group_ids: [group.body.data.id],
  });
  expect((await api.post(`/v1/campaigns/${campaign.body.data.id}/send`)).status).toBe(202);
  for (const to of ['plain@mail.test', 'attached@mail.test', 'campaign@mail.test']) {
    const verdict = await verdictOf(to);
    expect(verdict?.status?.result, to).toBe('pass');
    expect(verdict?.signingDomain).toBe('example.com');
  }
  const signedFields = (await verdictOf('campaign@mail.test'))?.signingHeaders?.keys.toLowerCase() ?? '';
  expect(signedFields).toContain('list-unsubscribe');
  expect(signedFields).toContain('list-unsubscribe-post');
});

test('a development domain, which has no key, sends unsigned mail', async () => {
  const api = await system.api();
  await api.post('/v1/emails', { from: 'hello@example.com', to: 'unsigned@mail.test', subject: 'S', html: '<p>x</p>' });
  expect((await verdictOf('unsigned@mail.test'))?.status?.result).toBe('none');
});

test('mail sent through Amazon SES is signed so that the signature survives SES rewriting Date and Message-ID', async () => {
  const api = await system.api();
  await addKey(api);
  const ses = await startSes();
  const { region, accessKeyId, secretAccessKey, url: endpoint } = ses;
  const id = newId('prv');
  await system.pool.query(
    `INSERT INTO mail_providers (id, project_id, name, kind, settings, credentials, token) VALUES ($1, $2, 'SES', 'ses', $3, $4, $1)`,
    [
      id,
      api.projectId,
      { region, endpoint },
      secretColumn('mail_providers', 'credentials').encrypt(JSON.stringify({ accessKeyId, secretAccessKey }), id),
    ],
  );
  await api.post('/v1/contacts', { email: 'by-ses@mail.test', name: 'Zoë' });
  const group = (await api.post('/v1/groups', { name: 'SES', emails: ['by-ses@mail.test'] })).body.data;
  const campaign = (
    await api.post('/v1/campaigns', {
      name: 'SES',
      subject: 'News',
      from_email: 'news@example.com',
      html: HTML,
      group_ids: [group.id],
    })
  ).body.data;
  await api.post(`/v1/campaigns/${campaign.id}/send`);
  const mail = await eventually(() => {
    const [taken] = ses.mails;
    if (taken === undefined) throw new Error('Nothing has come to SES yet.');
    return taken;
  });
  expect(mail.to).toEqual(['by-ses@mail.test']);
  expect(mail.tags['postroom-message']).toMatch(/^eml_/);
  const rewritten = mail.raw
    .replace(/^Date: .*$/m, 'Date: Sat, 21 Nov 2026 00:00:00 +0000')
    .replace(/^Message-ID: .*$/im, 'Message-ID: <0102@eu-west-1.amazonses.com>');
  expect(rewritten).not.toBe(mail.raw);
  const resolver = async (name: string) => (name === 'pr1._domainkey.example.com' ? [[published]] : []);
  const { results } = await dkimVerify(Buffer.from(rewritten, 'latin1'), { resolver });
  expect(results[0]).toMatchObject({ signingDomain: 'example.com', status: { result: 'pass' } });
  const signed = /\bh=([^;]+);/.exec(mail.raw)?.[1]?.replace(/\s/g, '').split(':');
  expect(signed).toEqual(expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post']));
  await ses.close();
});

test('preflight warns if a third-party signature may not cover List-Unsubscribe', async () => {
  const api = await system.api();
  const { id } = (
    await api.post('/v1/campaigns', { name: 'Check', subject: 'x', from_email: 'news@example.com', html: 'x' })
  ).body.data;
  const warnings = async () =>
    (await api.post(`/v1/campaigns/${id}/preflight`)).body.data.warnings
      .filter(({ field }: { field: string }) => field === 'from_email' || field === 'fromEmail')
      .map(({ message }: { message: string }) => message);
  // Mail from a development domain stays on this machine.
  expect(await warnings()).toEqual([]);
  await addKey(api);
  await system.pool.query(`UPDATE domains SET dkim = 'pending' WHERE project_id = $1`, [api.projectId]);
  await eventually(async () => {
    expect(await warnings()).toEqual([expect.stringContaining('DKIM key is not published')]);
  });
  await system.pool.query(`UPDATE domains SET dkim = 'verified' WHERE project_id = $1`, [api.projectId]);
  await eventually(async () => {
    expect(await warnings()).toEqual([]);
  });
  const mailbox = newId('mbx');
  await system.pool.query(
    `INSERT INTO mailbox_accounts (id, project_id, email, email_key, provider, host, port, implicit_tls, username, sign_in,
       credentials, status, per_minute, daily_cap)
     VALUES ($1, $2, $3, $3, 'other', 'localhost', 1, true, $3, 'password', '', 'connected', 1, 1)`,
    [mailbox, api.projectId, 'news@example.com'],
  );
  expect(await warnings()).toEqual([expect.stringContaining('whose own server signs')]);
});
