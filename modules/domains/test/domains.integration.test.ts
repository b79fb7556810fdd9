import { db } from '@postroom/platform';
import { createProject } from '@postroom/projects';
import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { checkDomainWith } from '../src/check.ts';
import { addDomain, addLocalDomain, removeDomain } from '../src/domains.ts';
import { watchDomain } from '../src/subscription.ts';
import { freshDomain } from './dns-world.ts';
import { addUnwatchedDomain } from './testing.ts';

const ADD = `mutation ($input: AddDomainInput!) {
  addDomain(input: $input) {
    id domain mailFromDomain verification verifiedForSending region
    records { purpose type name value status found note }
    lifecycle { type part actor }
  }
}`;
const REMOVE = 'mutation ($id: ID!) { removeDomain(id: $id) }';
const CHECK = 'mutation ($id: ID!) { checkDomain(id: $id) { id lifecycle { type actor actorName } } }';

const PUBLISH = `mutation ($id: ID!, $input: PublishDomainRecordsInput!) {
  publishDomainRecords(id: $id, input: $input) { zone dryRun steps { action reason record { name } } }
}`;

const code = (reply: { body: { errors?: { extensions: { code: string } }[] } }) =>
  reply.body.errors?.[0]?.extensions.code;

test('adding a domain creates a key and the records to publish', async () => {
  const api = await testApi();
  const admin = await signedIn(api, 'admin');
  const name = freshDomain();
  const { body } = await admin.graphql(ADD, { input: { domain: ` ${name.toUpperCase()}. ` } });
  const { records, ...domain } = body.data.addDomain;
  expect(domain).toEqual({
    id: expect.stringMatching(/^dom_/),
    domain: name,
    mailFromDomain: `bounce.${name}`,
    verification: 'pending',
    verifiedForSending: false,
    region: 'local',
    lifecycle: [{ type: 'added', part: 'domain', actor: admin.id }],
  });
  const unseen = { status: 'pending', found: [], note: null };
  expect(records).toEqual([
    {
      purpose: 'dkim',
      type: 'TXT',
      name: expect.stringMatching(new RegExp(`^pr[a-z0-9]{6}\\._domainkey\\.${name}$`)),
      value: expect.stringMatching(/^v=DKIM1; k=rsa; p=MII[A-Za-z0-9+/]{389}$/),
      ...unseen,
    },
    { purpose: 'mailFrom', type: 'MX', name: `bounce.${name}`, value: expect.stringMatching(/^10 /), ...unseen },
    {
      purpose: 'mailFrom',
      type: 'TXT',
      name: `bounce.${name}`,
      value: expect.stringMatching(/^v=spf1 .+ ~all$/),
      ...unseen,
    },
    { purpose: 'dmarc', type: 'TXT', name: `_dmarc.${name}`, value: 'v=DMARC1; p=none;', ...unseen },
  ]);
});

test('the private key is encrypted at rest and appears in no response', async () => {
  const api = await testApi();
  const name = freshDomain();
  const { id } = await addDomain(api.projectId, { domain: name }, 'usr_test');
  const [key] = await db.dkimKey.findMany({ where: { domainId: id } });
  expect(key?.privateKey).toMatch(/^v2:/);
  expect(key?.privateKey).not.toContain('PRIVATE KEY');
  const { body } = await api.graphql('{ __type(name: "Domain") { fields { name } } }');
  expect(JSON.stringify(body)).not.toMatch(/key/i);
});

test('names are normalized: case, trailing dot, international characters', async () => {
  const api = await testApi();
  const { projectId } = api;
  const name = freshDomain();
  const added = await addDomain(projectId, { domain: `Bücher。${name}.` }, 'usr_test');
  expect(added.domain).toBe(`xn--bcher-kva.${name}`);
  const query = 'query ($domain: String!) { domain(domain: $domain) { domain unicodeName } }';
  expect((await api.graphql(query, { domain: added.domain })).body.data.domain).toEqual({
    domain: `xn--bcher-kva.${name}`,
    unicodeName: `bücher.${name}`,
  });
  await expect(addDomain(projectId, { domain: `XN--BCHER-KVA.${name}` }, 'usr_test')).rejects.toMatchObject({
    code: 'conflict',
  });
});

test.each([
  '',
  'localhost',
  '192.0.2.1',
  'https://example.com',
  'ada@example.com',
  'exa mple.com',
  'under_score.com',
  '-a.example.com',
  'a..example.com',
  `${'a'.repeat(64)}.example.com`,
  `${'a.'.repeat(120)}example.com`,
])('what is not a domain name is refused with the field named: %s', async (domain) => {
  const { id: projectId } = await createProject('Names');
  await expect(addDomain(projectId, { domain }, 'usr_test')).rejects.toMatchObject({
    code: 'validation_error',
    details: [{ field: 'domain' }],
  });
});

test('a project has a domain once, even if it is added twice at the same time; another project may have it too', async () => {
  const [one, other] = [await testApi(), await testApi()];
  const name = freshDomain();
  const add = () =>
    addDomain(one.projectId, { domain: name }, 'usr_test').then(
      ({ domain }) => domain,
      ({ code }) => code,
    );
  expect((await Promise.all([add(), add()])).toSorted()).toEqual(['conflict', name].toSorted());
  expect((await addDomain(other.projectId, { domain: name }, 'usr_test')).domain).toBe(name);
});

test('the MAIL FROM subdomain can be chosen', async () => {
  const { projectId } = await testApi();
  const added = await addDomain(projectId, { domain: freshDomain(), mailFromLabel: 'Returns' }, 'usr_test');
  expect(added.mailFromDomain).toBe(`returns.${added.domain}`);
  const dotted = addDomain(projectId, { domain: freshDomain(), mailFromLabel: 'a.b' }, 'usr_test');
  await expect(dotted).rejects.toMatchObject({ code: 'validation_error', details: [{ field: 'mailFromLabel' }] });
});

test('only managers can change domains, never an API key', async () => {
  const api = await testApi();
  const { id } = await addDomain(api.projectId, { domain: freshDomain() }, 'usr_test');
  const member = await signedIn(api, 'member');
  for (const [document, variables] of [
    [ADD, { input: { domain: freshDomain() } }],
    [REMOVE, { id }],
    [CHECK, { id }],
    [PUBLISH, { id, input: { cloudflare: { apiToken: 'x' } } }],
  ] as const) {
    expect(code(await api.graphql(document, variables))).toBe('forbidden');
    expect(code(await member.graphql(document, variables))).toBe('forbidden');
  }
});

test("another project's domain is not found", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const admin = await signedIn(api, 'admin');
  const { id, domain } = await addDomain(other.projectId, { domain: freshDomain() }, 'usr_test');
  expect(code(await admin.graphql(REMOVE, { id }))).toBe('not_found');
  expect(code(await admin.graphql(CHECK, { id }))).toBe('not_found');
  expect((await api.get(`/v1/projects/${api.projectId}/domains/${domain}`)).status).toBe(404);
});

test('a requested check is recorded with its actor', async () => {
  const api = await testApi();
  const admin = await signedIn(api, 'admin');
  const { id } = await addDomain(api.projectId, { domain: freshDomain() }, 'usr_test');
  const { body } = await admin.graphql(CHECK, { id });
  expect(body.data.checkDomain.lifecycle[0]).toEqual({
    type: 'checkRequested',
    actor: admin.id,
    actorName: expect.stringMatching(/./),
  });
  const local = await addLocalDomain(api.projectId, freshDomain());
  expect(code(await admin.graphql(CHECK, { id: local.id }))).toBe('conflict');
});

test('removing a domain removes its key', async () => {
  const api = await testApi();
  const admin = await signedIn(api, 'admin');
  const { id, domain } = await addDomain(api.projectId, { domain: freshDomain() }, 'usr_test');
  expect((await admin.graphql(REMOVE, { id })).body.data).toEqual({ removeDomain: true });
  expect((await api.get(`/v1/projects/${api.projectId}/domains/${domain}`)).status).toBe(404);
  expect(await db.dkimKey.count({ where: { domainId: id } })).toBe(0);
  expect(code(await admin.graphql(REMOVE, { id }))).toBe('not_found');
});

test('a subscription yields a domain now and after each check, and ends when it is removed', async () => {
  const { projectId } = await testApi();
  const { id } = await addUnwatchedDomain(projectId, freshDomain());
  const view = watchDomain(projectId, id);
  expect((await view.next()).value).toMatchObject({ id, checkedAt: null });
  const next = view.next();
  await checkDomainWith(id);
  expect((await next).value).toMatchObject({ id, checkedAt: expect.any(Date) });
  const last = view.next();
  await removeDomain(projectId, id);
  expect(await last).toEqual({ done: true, value: undefined });
});

test("an abandoned subscription ends while it waits; one to another project's domain does not start", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { id } = await addUnwatchedDomain(api.projectId, freshDomain());
  const view = watchDomain(api.projectId, id);
  await view.next();
  const waiting = view.next();
  await view.return?.();
  expect((await waiting).done).toBe(true);
  await expect(watchDomain(other.projectId, id).next()).rejects.toMatchObject({ code: 'not_found' });
});

test('the subscription works over Server-Sent Events', async () => {
  const api = await testApi();
  const { id } = await addUnwatchedDomain(api.projectId, freshDomain());
  const watching = new AbortController();
  const response = await fetch(`${api.url}/graphql/stream`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({
      query: `subscription { domainChecked(id: "${id}") { verification checkedAt records { note } } }`,
    }),
    signal: watching.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const until = async (what: string) => {
    let text = '';
    while (!text.includes(what)) text += (await reader?.read())?.value ?? '';
    return text;
  };
  await until('"checkedAt":null');
  await checkDomainWith(id);
  expect(await until('"checkedAt":"2')).toContain('No name server answered');
  watching.abort();
});

test("users can publish records once the name servers are known, with one provider's credentials", async () => {
  const api = await testApi();
  const admin = await signedIn(api, 'admin');
  const { id } = await addUnwatchedDomain(api.projectId, freshDomain());
  const input = { cloudflare: { apiToken: 'x' } };
  expect(code(await admin.graphql(PUBLISH, { id, input }))).toBe('conflict');
  await db.domain.update({ where: { id }, data: { nameservers: ['lara.ns.cloudflare.com'] } });
  expect(code(await admin.graphql(PUBLISH, { id, input: {} }))).toBe('validation_error');
  const aws = { accessKeyId: 'x', secretAccessKey: 'y' };
  expect(code(await admin.graphql(PUBLISH, { id, input: { ...input, route53: aws } }))).toBe('validation_error');
});

test('domains are listed newest first, with the fields of the spec', async () => {
  const api = await testApi();
  const [one, two] = [
    await addLocalDomain(api.projectId, freshDomain()),
    await addDomain(api.projectId, { domain: freshDomain() }, 'usr_test'),
  ];
  const { status, body } = await api.get(`/v1/projects/${api.projectId}/domains`);
  expect(status).toBe(200);
  expect(body.data).toEqual([
    {
      domain: two.domain,
      verifiedForSending: false,
      dkim: 'pending',
      mailFrom: 'pending',
      dmarc: 'pending',
      region: 'local',
      createdAt: two.createdAt.toISOString(),
    },
    {
      domain: one.domain,
      verifiedForSending: true,
      dkim: 'verified',
      mailFrom: 'verified',
      dmarc: 'verified',
      region: 'local',
      createdAt: one.createdAt.toISOString(),
    },
  ]);
});

test('the detail adds verification, records, recommendations, the DNS provider and lifecycle events', async () => {
  const api = await testApi();
  const { id, domain } = await addUnwatchedDomain(api.projectId, freshDomain());
  const recommendation = { id: 'x', severity: 'info', title: 't', detail: 'd', record: null };
  await db.domain.update({
    where: { id },
    data: { dnsProvider: 'cloudflare', zone: domain, recommendations: [recommendation] },
  });
  const { body } = await api.get(`/v1/projects/${api.projectId}/domains/${domain.toUpperCase()}`);
  expect(body.data).toMatchObject({
    domain,
    verification: 'pending',
    recommendations: [recommendation],
    dnsProvider: { id: 'cloudflare', name: 'Cloudflare', editorUrl: expect.stringContaining(domain) },
    lifecycle: [{ type: 'added', actor: 'usr_test', at: expect.stringMatching(/Z$/) }],
  });
  expect(Object.keys(body.data.records[0])).toEqual(['purpose', 'type', 'name', 'value']);
});

test("a project outside the key's scope is forbidden, an unknown domain is not found", async () => {
  const [api, other] = [await testApi(), await testApi()];
  expect((await api.get(`/v1/projects/${other.projectId}/domains`)).status).toBe(403);
  expect((await api.get(`/v1/projects/${api.projectId}/domains/unknown.example`)).body.error.code).toBe('not_found');
});

test('domains have no write endpoints: every other method is 405', async () => {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  for (const path of [`/v1/projects/${api.projectId}/domains`, `/v1/projects/${api.projectId}/domains/example.com`]) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const reply = await api.send(method, path, method === 'DELETE' ? {} : { body: { domain: 'example.org' } });
      expect([reply.status, reply.body.error.code]).toEqual([405, 'method_not_allowed']);
    }
  }
});
