import { db } from '@postroom/platform';
import { createProject } from '@postroom/projects';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkDomainWith, recordsOf } from '../src/check.ts';
import { addLocalDomain, blockDomain, removeDomain, unblockDomain } from '../src/domains.ts';
import { senderProblem } from '../src/sender.ts';
import type { DnsServer } from './dns-server.ts';
import { type DnsWorld, freshDomain, startDnsWorld } from './dns-world.ts';
import { addUnwatchedDomain } from './testing.ts';

let world: DnsWorld;
beforeAll(async () => {
  world = await startDnsWorld();
});
afterAll(() => world.close());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A new domain, its zone, and a function to check it at a chosen time. */
async function newDomain() {
  const { id: projectId } = await createProject('Checks');
  const name = freshDomain();
  const servers = await world.zone(name);
  const { id, createdAt } = await addUnwatchedDomain(projectId, name);
  const read = () => db.domain.findUniqueOrThrow({ where: { id }, include: { lifecycle: { orderBy: { id: 'asc' } } } });
  return {
    id,
    name,
    projectId,
    servers,
    read,
    /** Checks the domain this many milliseconds after it was added. */
    checkAt: async (afterMs: number) => {
      const check = await checkDomainWith(id, { dns: world.options, now: () => createdAt.getTime() + afterMs });
      return { check, domain: await read() };
    },
    publish: async (servers: DnsServer[]) => {
      for (const server of servers) {
        for (const record of recordsOf(await read())) server.set(record.name, record.type, record.value);
      }
    },
  };
}

test('a domain is verified once all its records are found, and can send only then', async () => {
  const { projectId, name, servers, checkAt, publish } = await newDomain();
  const before = await checkAt(0);
  expect(before.check).toMatchObject({ outcome: 'checked', waitMs: 15_000 });
  expect(before.domain).toMatchObject({ verification: 'pending', verifiedForSending: false });
  expect(await senderProblem(projectId, `ada@${name}`)).toMatch(/not verified/);
  await publish(servers);
  const { check, domain } = await checkAt(20_000);
  expect(check).toMatchObject({ outcome: 'checked', waitMs: DAY });
  expect(domain).toMatchObject({
    verification: 'verified',
    dkim: 'verified',
    mailFrom: 'verified',
    dmarc: 'verified',
    verifiedForSending: true,
    zone: name,
    nameservers: [`ns1.${name}`, `ns2.${name}`],
    dnsProvider: null,
    nextCheckAt: new Date(domain.createdAt.getTime() + 20_000 + DAY),
  });
  expect(recordsOf(domain).map(({ status }) => status)).toEqual(Array(4).fill('verified'));
  expect(await senderProblem(projectId, `Ada@${name.toUpperCase()}`)).toBeUndefined();
});

test('a domain that loses a record fails after three days of grace, and its campaigns are rejected', async () => {
  const { projectId, name, servers, checkAt, publish } = await newDomain();
  await publish(servers);
  await checkAt(0);
  for (const server of servers) server.remove(`bounce.${name}`, 'MX');
  const failing = await checkAt(DAY);
  expect(failing.check).toMatchObject({ waitMs: HOUR });
  expect(failing.domain).toMatchObject({ verification: 'failing', mailFrom: 'failing', dkim: 'verified' });
  expect(recordsOf(failing.domain).map(({ status }) => status)).toEqual([
    'verified',
    'failing',
    'verified',
    'verified',
  ]);
  await checkAt(3 * DAY);
  expect(await senderProblem(projectId, `ada@${name}`)).toBeUndefined();
  const failed = await checkAt(4 * DAY);
  expect(failed.domain).toMatchObject({ verification: 'failed', mailFrom: 'failed', verifiedForSending: false });
  expect(await senderProblem(projectId, `ada@${name}`)).toMatch(/no longer verified/);
  await publish(servers);
  await checkAt(5 * DAY);
  expect(await senderProblem(projectId, `ada@${name}`)).toBeUndefined();
});

test('changes to a domain are recorded with time and actor', async () => {
  const { name, servers, checkAt, publish, read } = await newDomain();
  for (const server of servers)
    server.zone(name, [`ns1.${name}`], { mname: 'x.ns.cloudflare.com', rname: 'dns.cloudflare.com' });
  await publish(servers);
  await checkAt(0);
  for (const server of servers) server.remove(`_dmarc.${name}`, 'TXT');
  await checkAt(DAY);
  const { lifecycle, dnsProvider } = await read();
  expect(dnsProvider).toBe('cloudflare');
  expect(lifecycle.map(({ type, part, actor }) => `${type} ${part} ${actor}`)).toEqual([
    'added domain usr_test',
    'providerDetected domain system',
    'verified dkim system',
    'verified mailFrom system',
    'verified dmarc system',
    'verified domain system',
    'failing dmarc system',
    'failing domain system',
  ]);
  expect(lifecycle.find(({ type }) => type === 'failing')?.detail).toMatch(
    /^DMARC is no longer verified. Record not found yet. Fix it by \d{4}-/,
  );
});

test('an unpublished domain fails after 72 hours and verifies whenever it is published', async () => {
  const { servers, checkAt, publish } = await newDomain();
  expect((await checkAt(71 * HOUR)).check).toMatchObject({ waitMs: HOUR });
  expect((await checkAt(72 * HOUR)).domain).toMatchObject({ verification: 'failed', dkim: 'failed' });
  await publish(servers);
  expect((await checkAt(40 * DAY)).domain).toMatchObject({ verification: 'verified' });
});

test('unresponsive name servers change nothing for a day', async () => {
  const { name, servers, checkAt, publish } = await newDomain();
  await publish(servers);
  await checkAt(0);
  for (const server of servers) server.misbehave(name, 'SERVFAIL');
  world.resolver.misbehave(name, 'SERVFAIL');
  const silent = await checkAt(DAY);
  expect(silent.check).toMatchObject({ waitMs: HOUR });
  expect(silent.domain).toMatchObject({ verification: 'verified', zone: name });
  expect(recordsOf(silent.domain)[0]).toMatchObject({
    status: 'verified',
    note: expect.stringMatching(/^No name server/),
  });
  expect((await checkAt(2 * DAY)).domain.verification).toBe('failing');
});

test('p=none is tracked from its first sighting and questioned after 30 days', async () => {
  const { servers, checkAt, publish } = await newDomain();
  await publish(servers);
  const ids = async (afterMs: number) =>
    ((await checkAt(afterMs)).domain.recommendations as { id: string }[]).map(({ id }) => id);
  expect(await ids(0)).toEqual(['mx_missing', 'dmarc_no_reports']);
  expect(await ids(29 * DAY)).not.toContain('dmarc_policy_none');
  expect(await ids(30 * DAY)).toContain('dmarc_policy_none');
});

test('a blocked domain is rejected in every project, whatever its records', async () => {
  const { projectId, name, servers, checkAt, publish, read } = await newDomain();
  await publish(servers);
  await checkAt(0);
  expect(await blockDomain(name.toUpperCase(), 'Complaints')).toEqual({ isChanged: true, projects: 1 });
  expect(await blockDomain(name, 'Again')).toEqual({ isChanged: false, projects: 0 });
  expect(await senderProblem(projectId, `ada@${name}`)).toMatch(/has been blocked/);
  expect((await checkAt(DAY)).domain).toMatchObject({ verification: 'verified', verifiedForSending: false });
  expect(await unblockDomain(name)).toEqual({ isChanged: true, projects: 1 });
  expect(await senderProblem(projectId, `ada@${name}`)).toBeUndefined();
  const { lifecycle } = await read();
  expect(lifecycle.slice(-2).map(({ type, actor, detail }) => [type, actor, detail])).toEqual([
    ['blocked', 'operator', 'Complaints'],
    ['unblocked', 'operator', 'The block was lifted.'],
  ]);
});

test('a blocked domain stays blocked: it cannot be removed, and is blocked in a project that adds it later', async () => {
  const { id, projectId, name } = await newDomain();
  await blockDomain(name, 'Complaints');
  await expect(removeDomain(projectId, id)).rejects.toMatchObject({ code: 'forbidden' });
  const other = await createProject('Adds it later');
  const later = await addUnwatchedDomain(other.id, name);
  expect(later).toMatchObject({ blockedReason: 'Complaints', verifiedForSending: false });
  expect(await senderProblem(other.id, `ada@${name}`)).toMatch(/has been blocked/);
  expect(await unblockDomain(name)).toEqual({ isChanged: true, projects: 2 });
  await removeDomain(projectId, id);
});

test('a removed or development domain is not checked', async () => {
  const { id, projectId, checkAt } = await newDomain();
  const local = await addLocalDomain(projectId, freshDomain());
  expect(await checkDomainWith(local.id, { dns: world.options })).toEqual({ outcome: 'gone' });
  await removeDomain(projectId, id);
  await expect(checkAt(0)).rejects.toThrow(/No record was found/);
  expect(await checkDomainWith(id, { dns: world.options })).toEqual({ outcome: 'gone' });
});
