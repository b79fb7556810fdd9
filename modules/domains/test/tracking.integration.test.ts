import { config, db, sql } from '@postroom/platform';
import { createProject } from '@postroom/projects';
import { interleave } from '@postroom/testkit';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { checkDomainWith } from '../src/check.ts';
import { addLocalDomain, setTrackingDomain } from '../src/domains.ts';
import { senderFor } from '../src/sender.ts';
import { type DnsWorld, freshDomain, startDnsWorld } from './dns-world.ts';
import { addUnwatchedDomain } from './testing.ts';
import { forgetTrackingHosts, isTrackingHost } from '../src/tracking-hosts.ts';
import { trackingRecord, trackingTarget } from '../src/tracking.ts';

let world: DnsWorld;
beforeAll(async () => {
  world = await startDnsWorld();
});
afterAll(() => world.close());

const HOUR = 3_600_000;

/** A domain with its own tracking host, its zone, and checks of it. */
async function trackedDomain() {
  const { id: projectId } = await createProject('Tracked');
  const name = freshDomain();
  const servers = await world.zone(name);
  const { id } = await addUnwatchedDomain(projectId, name);
  const host = `links.${name}`;
  await setTrackingDomain(projectId, id, host, 'system');
  return {
    id,
    host,
    projectId,
    publish: (value: string) => servers.forEach((server) => server.set(host, trackingTarget().type, value)),
    check: async (afterMs = 0) => {
      const check = await checkDomainWith(id, { dns: world.options, now: () => Date.now() + afterMs });
      const domain = await db.domain.findUniqueOrThrow({ where: { id }, include: { lifecycle: true } });
      return { check, domain, record: trackingRecord(domain) };
    },
    linksBeginWith: async () => (await senderFor(projectId, `ada@${name}`)).trackingDomain,
  };
}

test('links use the tracking host once its record is verified, until the record is lost', async () => {
  const { host, publish, check, linksBeginWith } = await trackedDomain();
  const before = await check();
  expect(before.record).toMatchObject({ name: host, status: 'pending', note: 'Record not found yet.' });
  expect(await linksBeginWith()).toBeUndefined();
  publish(trackingTarget().value);
  expect((await check()).record).toMatchObject({ status: 'verified', found: [trackingTarget().value], note: null });
  expect(await linksBeginWith()).toBe(host);
  publish('192.0.2.200');
  const after = await check(HOUR);
  expect(after.record).toMatchObject({ status: 'failing', found: ['192.0.2.200'] });
  expect(after.domain.lifecycle.filter(({ part }) => part === 'tracking').map(({ type }) => type)).toEqual([
    'trackingDomainSet',
    'verified',
    'failing',
  ]);
  expect(await linksBeginWith()).toBeUndefined();
});

const VERIFIED = { verification: 'verified', dkim: 'verified', mailFrom: 'verified', dmarc: 'verified' } as const;

test('a domain can send whatever happens to its tracking host', async () => {
  const { id, check } = await trackedDomain();
  await db.domain.update({ where: { id }, data: { ...VERIFIED, verifiedForSending: true } });
  const { domain } = await check();
  expect(domain.tracking).toBe('pending');
  expect(domain.verifiedForSending).toBe(true);
});

test('a new tracking host is checked as often as a new domain, and a changed one starts over', async () => {
  const { id, projectId, host, publish, check } = await trackedDomain();
  await db.domain.update({ where: { id }, data: { ...VERIFIED, createdAt: new Date(Date.now() - 90 * 24 * HOUR) } });
  expect((await check()).check).toMatchObject({ waitMs: 15_000 });
  publish(trackingTarget().value);
  await check();
  await setTrackingDomain(projectId, id, `other.${host.slice('links.'.length)}`, 'system');
  const { record } = await check();
  expect(record).toMatchObject({ status: 'pending', found: [] });
});

test('the tracking host of a development domain is never looked up in DNS', async () => {
  const { id: projectId } = await createProject('Local');
  const name = freshDomain();
  const { id } = await addLocalDomain(projectId, name);
  await setTrackingDomain(projectId, id, `links.${name}`, 'system');
  expect((await senderFor(projectId, `ada@${name}`)).trackingDomain).toBe(`links.${name}`);
});

test("the tracking record is a CNAME to the gateway's host, or an address record if that is an IP address", () => {
  expect(trackingTarget('https://mail.acme.example:8443')).toEqual({ type: 'CNAME', value: 'mail.acme.example' });
  expect(trackingTarget('http://192.0.2.7')).toEqual({ type: 'A', value: '192.0.2.7' });
  expect(trackingTarget('http://[2001:db8::7]:4200')).toEqual({ type: 'AAAA', value: '2001:db8::7' });
});

test('an unproven tracking host has no effect: neither without its record nor below an unverified domain', async () => {
  const { id, host, publish, check } = await trackedDomain();
  const proven = await trackedDomain();
  proven.publish(trackingTarget().value);
  await proven.check();
  await db.domain.update({ where: { id: proven.id }, data: VERIFIED });
  const isKnown = () => isTrackingHost(host);
  // The gateway sees the new host despite its cache.
  await expect.poll(() => isTrackingHost(proven.host), { timeout: 20_000 }).toBe(true);
  expect(await isKnown()).toBe(false);
  // A CNAME to us that another domain already has, such as api.operator.example: it points here, but proves nothing.
  publish(trackingTarget().value);
  expect((await check()).domain).toMatchObject({ tracking: 'verified', dkim: 'pending' });
  forgetTrackingHosts();
  expect(await isKnown()).toBe(false);
  await db.domain.update({ where: { id }, data: VERIFIED });
  forgetTrackingHosts();
  expect(await isKnown()).toBe(true);
});

test("the installation's own host cannot be a tracking host", async () => {
  const before = config.PUBLIC_URL;
  onTestFinished(() => {
    config.PUBLIC_URL = before;
  });
  const { id: projectId } = await createProject('Operator');
  const name = freshDomain();
  const { id } = await addUnwatchedDomain(projectId, name);
  config.PUBLIC_URL = `https://mail.${name}:8443`;
  await expect(setTrackingDomain(projectId, id, `Mail.${name}`, 'system')).rejects.toMatchObject({
    code: 'validation_error',
    details: [{ field: 'host' }],
  });
});

test('two projects may name the same tracking host', async () => {
  const first = await trackedDomain();
  const { id: projectId } = await createProject('Second');
  const { id } = await addUnwatchedDomain(projectId, first.host.slice('links.'.length));
  await setTrackingDomain(projectId, id, first.host, 'system');
  first.publish(trackingTarget().value);
  expect((await first.check()).record).toMatchObject({ status: 'verified' });
});

test('a tracking host is recognized regardless of case and port; our own host never is', async () => {
  const { host, id, publish, check } = await trackedDomain();
  publish(trackingTarget().value);
  await check();
  await db.domain.update({ where: { id }, data: VERIFIED });
  await expect.poll(() => isTrackingHost(`${host.toUpperCase()}:443`), { timeout: 20_000 }).toBe(true);
  expect(await isTrackingHost(`x.${host}`)).toBe(false);
  expect(await isTrackingHost(host, `https://${host}`)).toBe(false);
  for (const other of [undefined, '', 'localhost:4200', '127.0.0.1', '[::1]:4200'])
    expect(await isTrackingHost(other)).toBe(false);
});

test('setting the tracking host keeps the results of a check that ends at the same moment', async () => {
  const { id, projectId, host } = await trackedDomain();
  const parts = { dkim: { failingSince: 1 } };
  await interleave(
    (tx) => sql(tx, 'UPDATE domains SET memory = $2 WHERE id = $1', [id, { parts }]),
    () => setTrackingDomain(projectId, id, `other.${host.slice('links.'.length)}`, 'system'),
  );
  expect((await db.domain.findUniqueOrThrow({ where: { id } })).memory).toMatchObject({ parts });
});
