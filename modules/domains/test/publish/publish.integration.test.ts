import { db } from '@postroom/platform';
import { createProject } from '@postroom/projects';
import { afterEach, expect, test } from 'vitest';
import { recordsOf } from '../../src/check.ts';
import { startCloudflare } from '../cloudflare.ts';
import { freshDomain } from '../dns-world.ts';
import { addUnwatchedDomain } from '../testing.ts';
import { startRoute53 } from '../route53.ts';
import { publishRecords } from '../../src/publish/publish.ts';
import { quoteText, unquoteText } from '../../src/publish/txt.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A domain two labels below the apex of its zone. */
async function newDomain(nameservers: string[]) {
  const { id: projectId } = await createProject('Publishing');
  const apex = freshDomain();
  const { id, domain } = await addUnwatchedDomain(projectId, `mail.${apex}`);
  const row = await db.domain.update({ where: { id }, data: { zone: apex, nameservers } });
  const [dkim, mx, spf, dmarc] = recordsOf(row);
  return { projectId, id, domain, apex, records: recordsOf(row), dkim: dkim!, mx: mx!, spf: spf!, dmarc: dmarc! };
}

async function atCloudflare() {
  const nameservers = ['lara.ns.cloudflare.com', 'rick.ns.cloudflare.com'];
  const setting = await newDomain(nameservers);
  const provider = await startCloudflare({ name: setting.apex, nameservers });
  closing.push(provider.close);
  const publish = (dryRun: boolean, apiToken = provider.token) =>
    publishRecords(setting.projectId, setting.id, {
      cloudflare: { apiToken },
      dryRun,
      actor: 'usr_test',
      urls: { cloudflare: provider.url },
    });
  return { ...setting, provider, publish };
}

async function atRoute53() {
  const nameservers = ['ns-1.awsdns-01.co.uk', 'ns-2.awsdns-02.com'];
  const setting = await newDomain(nameservers);
  const provider = await startRoute53(
    { id: 'ZPRIVATE', name: setting.apex, nameservers, isPrivate: true },
    { id: 'ZOTHER', name: setting.apex, nameservers: ['ns-9.awsdns-09.org'] },
    { id: 'Z1', name: setting.apex, nameservers: ['NS-2.awsdns-02.com'] },
  );
  closing.push(provider.close);
  const publish = (dryRun: boolean, accessKeyId = provider.accessKeyId) =>
    publishRecords(setting.projectId, setting.id, {
      route53: { accessKeyId, secretAccessKey: 'secret' },
      dryRun,
      actor: 'usr_test',
      urls: { route53: provider.url },
    });
  return { ...setting, provider, publish };
}

const actions = ({ steps }: { steps: { action: string }[] }) => steps.map(({ action }) => action);
const ALL_CREATED = ['create', 'create', 'create', 'create'];

test('a dry run reports what would be published and changes nothing', async () => {
  const one = await atCloudflare();
  const planned = await one.publish(true);
  expect(planned).toMatchObject({ zone: one.apex, dryRun: true });
  expect(actions(planned)).toEqual(ALL_CREATED);
  expect(planned.steps[0]).toEqual({
    action: 'create',
    record: { purpose: 'dkim', type: 'TXT', name: one.dkim.name, value: one.dkim.value },
    existing: [],
    reason: 'The record does not exist yet.',
  });
  expect(one.provider.records).toEqual([]);
  const other = await atRoute53();
  expect(actions(await other.publish(true))).toEqual(ALL_CREATED);
  expect(other.provider.sets).toEqual([]);
});

test('records are published at Cloudflare in one batch, with our marker, and only once', async () => {
  const { id, provider, publish, records } = await atCloudflare();
  expect(actions(await publish(false))).toEqual(ALL_CREATED);
  expect(provider.batches).toBe(1);
  expect(
    provider.records.map(({ type, name, content, priority, comment }) => ({ type, name, content, priority, comment })),
  ).toEqual(
    records.map(({ type, name, value }) => ({
      type,
      name,
      content: type === 'MX' ? value.slice(3) : quoteText(value),
      priority: type === 'MX' ? 10 : undefined,
      comment: `postroom ${id}`,
    })),
  );
  expect(actions(await publish(false))).toEqual(['keep', 'keep', 'keep', 'keep']);
  expect(provider.batches).toBe(1);
});

test('records are published at Route 53 in the delegated public zone, and only once', async () => {
  const { id, provider, publish, dkim, mx } = await atRoute53();
  expect(actions(await publish(false))).toEqual(ALL_CREATED);
  expect(provider.comments).toEqual([`postroom ${id}`]);
  expect(provider.sets).toHaveLength(4);
  expect(provider.sets[0]).toEqual({ name: `${dkim.name}.`, type: 'TXT', ttl: 300, values: [quoteText(dkim.value)] });
  expect(provider.sets[1]).toMatchObject({ name: `${mx.name}.`, type: 'MX', values: [`${mx.value}.`] });
  expect(actions(await publish(false))).toEqual(['keep', 'keep', 'keep', 'keep']);
});

test('publishing is recorded with its actor', async () => {
  const { id, publish } = await atCloudflare();
  await publish(true);
  await publish(false);
  const events = await db.lifecycleEvent.findMany({ where: { domainId: id, type: 'published' } });
  expect(events).toMatchObject([{ actor: 'usr_test', detail: '4 records were published at Cloudflare.' }]);
});

test('a record that is not ours is never overwritten: it is a conflict, and the others are published', async () => {
  const one = await atCloudflare();
  one.provider.records.push(
    { id: 'a', type: 'MX', name: one.mx.name, content: 'mx.elsewhere.example', priority: 5 },
    { id: 'b', type: 'TXT', name: one.spf.name, content: '"v=spf1 -all"' },
    { id: 'c', type: 'CNAME', name: one.dmarc.name, content: 'dmarc.elsewhere.example' },
  );
  const before = structuredClone(one.provider.records);
  const published = await one.publish(false);
  expect(actions(published)).toEqual(['create', 'conflict', 'conflict', 'conflict']);
  expect(published.steps[1]).toMatchObject({
    existing: ['5 mx.elsewhere.example'],
    reason: expect.stringMatching(/did not publish it/),
  });
  expect(one.provider.records.slice(0, 3)).toEqual(before);
  expect(one.provider.records).toHaveLength(4);

  const other = await atRoute53();
  other.provider.sets.push({ name: `${other.spf.name}.`, type: 'TXT', ttl: 60, values: ['"v=spf1 -all"'] });
  expect(actions(await other.publish(false))).toEqual(['create', 'create', 'conflict', 'create']);
  expect(other.provider.sets[0]).toEqual({
    name: `${other.spf.name}.`,
    type: 'TXT',
    ttl: 60,
    values: ['"v=spf1 -all"'],
  });
});

test('an existing policy is kept, regardless of its publisher', async () => {
  const { provider, publish, dmarc } = await atCloudflare();
  provider.records.push({ id: 'a', type: 'TXT', name: dmarc.name, content: '"v=DMARC1; p=reject"' });
  const { steps } = await publish(false);
  expect(steps[3]).toMatchObject({ action: 'keep', existing: ['v=DMARC1; p=reject'] });
  expect(provider.records.filter(({ name }) => name === dmarc.name)).toHaveLength(1);
});

test('verified records are not touched', async () => {
  const { id, records, publish } = await atCloudflare();
  const verified = records.map((record) => ({
    ...record,
    status: record.purpose === 'dmarc' ? 'verified' : record.status,
  }));
  await db.domain.update({ where: { id }, data: { records: verified } });
  expect(actions(await publish(true))).toEqual(['create', 'create', 'create', 'keep']);
});

test('at Cloudflare, an outdated record with our marker is replaced', async () => {
  const { id, provider, publish, mx } = await atCloudflare();
  provider.records.push({
    id: 'a',
    type: 'MX',
    name: mx.name,
    content: 'old.postroom.example',
    priority: 10,
    comment: `postroom ${id}`,
  });
  expect(actions(await publish(false))).toEqual(['create', 'replace', 'create', 'create']);
  expect(provider.records.filter(({ type }) => type === 'MX')).toMatchObject([{ content: mx.value.slice(3) }]);
});

test("others' texts at our names are kept, even in a shared Route 53 record set", async () => {
  const one = await atCloudflare();
  one.provider.records.push({ id: 'a', type: 'TXT', name: one.spf.name, content: '"other-verification=1"' });
  expect(actions(await one.publish(false))).toEqual(ALL_CREATED);
  expect(one.provider.records.filter(({ name, type }) => name === one.spf.name && type === 'TXT')).toHaveLength(2);

  const other = await atRoute53();
  other.provider.sets.push({ name: `${other.spf.name}.`, type: 'TXT', ttl: 60, values: ['"a\\"b;&<c"'] });
  expect(actions(await other.publish(false))).toEqual(ALL_CREATED);
  expect(other.provider.sets.find(({ name, type }) => name === `${other.spf.name}.` && type === 'TXT')).toEqual({
    name: `${other.spf.name}.`,
    type: 'TXT',
    ttl: 60,
    values: ['"a\\"b;&<c"', quoteText(other.spf.value)],
  });
});

test('a record set changed while we publish is not overwritten: the whole batch is rejected', async () => {
  const { provider, publish, spf } = await atRoute53();
  provider.sets.push({ name: `${spf.name}.`, type: 'TXT', ttl: 60, values: ['"one"'] });
  provider.beforeChange = () => provider.sets[0]?.values.push('"two"');
  await expect(publish(false)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/but it was not found/),
  });
  expect(provider.sets).toEqual([{ name: `${spf.name}.`, type: 'TXT', ttl: 60, values: ['"one"', '"two"'] }]);
});

test('a record set with a routing policy is left alone', async () => {
  const { provider, publish, mx } = await atRoute53();
  provider.sets.push({ name: `${mx.name}.`, type: 'MX', ttl: 60, values: ['5 a.example.'], setIdentifier: 'eu' });
  expect((await publish(false)).steps[1]).toMatchObject({
    action: 'conflict',
    reason: expect.stringMatching(/routing policy/),
  });
});

test('rejected credentials are reported and never stored', async () => {
  const one = await atCloudflare();
  await expect(one.publish(false, 'wrong-token')).rejects.toMatchObject({
    code: 'validation_error',
    details: [{ field: 'cloudflare.apiToken' }],
  });
  const other = await atRoute53();
  await expect(other.publish(false, 'AKIAWRONG')).rejects.toMatchObject({
    code: 'validation_error',
    details: [{ field: 'route53' }],
  });
  await one.publish(false);
  const row = await db.domain.findUniqueOrThrow({ where: { id: one.id }, include: { lifecycle: true, keys: true } });
  const text = JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  expect(text).not.toContain(one.provider.token);
});

test('a request to Cloudflare is retried once, and its errors are told apart', async () => {
  const { provider, publish } = await atCloudflare();
  provider.failures.push({ status: 429, headers: { 'Retry-After': '0' } }, { status: 502, body: '<html>' });
  await expect(publish(true)).rejects.toMatchObject({ message: 'Could not reach Cloudflare. Try again.' });
  provider.failures.push({ status: 500, headers: { 'Retry-After': '0' } });
  expect(actions(await publish(false))).toEqual(ALL_CREATED);
  expect(provider.failures).toEqual([]);
  const malformed = { success: false, errors: [{ code: 6003, message: 'Invalid request headers' }], result: null };
  provider.failures.push({ status: 400, body: JSON.stringify(malformed) });
  await expect(publish(true)).rejects.toMatchObject({
    code: 'validation_error',
    details: [{ message: 'was rejected by Cloudflare (Invalid request headers)' }],
  });
  provider.failures.push({ status: 200, body: 'not JSON' });
  await expect(publish(true)).rejects.toMatchObject({ message: 'Could not reach Cloudflare. Try again.' });
});

test('an inaccessible zone and an unreachable provider are reported', async () => {
  const { projectId, id, provider, publish } = await atCloudflare();
  await db.domain.update({ where: { id }, data: { nameservers: ['ns1.elsewhere.example'] } });
  await expect(publish(true)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/has no access to a Cloudflare zone/),
  });
  await provider.close();
  await expect(publish(true)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/Could not reach/),
  });
  await db.domain.update({ where: { id }, data: { nameservers: [] } });
  await expect(publish(true)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/not known yet/),
  });
  const nothing = publishRecords(projectId, id, { dryRun: true, actor: 'usr_test' });
  await expect(nothing).rejects.toMatchObject({ code: 'conflict' });
});

test.each([
  ['v=spf1 -all', '"v=spf1 -all"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['x'.repeat(300), `"${'x'.repeat(255)}" "${'x'.repeat(45)}"`],
  ['', '""'],
])('a text is quoted in strings of 255 and read back: %s', (text, quoted) => {
  expect(quoteText(text)).toBe(quoted);
  expect(unquoteText(quoted)).toBe(text);
});

test('texts are read in every form that providers return', () => {
  expect(unquoteText('v=DMARC1; p=none')).toBe('v=DMARC1; p=none');
  expect(unquoteText('"v=DMARC1\\059 p=none"')).toBe('v=DMARC1; p=none');
  expect(unquoteText('"a" "b"\t"c"')).toBe('abc');
});
