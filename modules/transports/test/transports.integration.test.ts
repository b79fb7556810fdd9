import { addLocalDomain } from '@postroom/domains';
import { config, newId } from '@postroom/platform';
import { createProject } from '@postroom/projects';
import { expect, onTestFinished, test } from 'vitest';
import type { SendOutcome } from '@postroom/smtp';
import { ScriptedServer } from '@postroom/smtp/testing';
import type { Script } from '@postroom/smtp/testing';
import { providerLimits } from '../src/provider-limits.ts';
import { createProvider } from '../src/providers.ts';
import { type Route, routeFor } from '../src/transports.ts';
import { isTransportFailure } from '../src/transport-health.ts';
import { startSes } from './ses/fake-ses.ts';

/** A port where nothing listens. */
async function deadPort(): Promise<number> {
  const server = await ScriptedServer.start();
  const { port } = server;
  await server[Symbol.asyncDispose]();
  return port;
}

const relay = (port: number, more: object = {}) => ({
  smtp: { host: '127.0.0.1', port, tls: 'optional' as const, ...more },
});

/** The route of a new project with relays at these ports, in this order of preference. */
async function routeOver(...ports: number[]): Promise<Route> {
  const { id: projectId } = await createProject('Ways');
  for (const [index, port] of ports.entries()) {
    await createProvider(projectId, { name: `relay ${index}`, position: index + 1, ...relay(port) });
  }
  return routeFor({ projectId, fromEmail: 'news@example.com', traffic: 'campaigns', byMailbox: false });
}

function send(route: Route): Promise<SendOutcome> {
  const data = 'From: news@example.com\r\nTo: ada@mail.test\r\nSubject: Hi\r\n\r\nHello\r\n';
  return route.send({ id: newId('eml'), from: 'news@example.com', to: 'ada@mail.test', data });
}

/** Sends one message through a scripted relay, with a second relay to fail over to. */
async function sendOver(script: Script) {
  await using first = await ScriptedServer.start(script);
  await using second = await ScriptedServer.start();
  const outcome = await send(await routeOver(first.port, second.port));
  return { outcome, first: first.mails.length, second: second.mails.length };
}

const acting = (stage: string, act: string | { after: 'end' | 'reset' }): Script => ({
  act: (at) => (at === stage ? act : undefined),
});

test.each<[string, Script]>([
  ['greets with a refusal', acting('greeting', '554 not you')],
  ['refuses the sender for our settings', acting('mail', '530 5.7.0 Must issue a STARTTLS command first')],
  ['breaks off before MAIL is answered', acting('mail', { after: 'reset' })],
  ['breaks off before the final dot', acting('data', { after: 'reset' })],
  ['has used up what our account may send', acting('dot', '550 5.4.5 Daily user sending limit exceeded.')],
])('a message goes to the next way when the first one %s', async (_what, script) => {
  const { outcome, second } = await sendOver(script);
  expect(outcome).toMatchObject({ kind: 'accepted' });
  expect(second).toBe(1);
});

test.each<[string, Script, Partial<SendOutcome>]>([
  ['was accepted', {}, { kind: 'accepted' }],
  ['may have been accepted', acting('dot', { after: 'reset' }), { kind: 'unknown' }],
  ['is refused for its recipient', acting('rcpt', '550 5.1.1 no such user'), { kind: 'refused' }],
  ['is refused for its content', acting('dot', '554 5.6.0 malformed'), { kind: 'refused' }],
  ['is refused for our reputation', acting('dot', '550 5.7.1 listed at spamhaus'), { kind: 'refused' }],
  ['is greylisted', acting('rcpt', '450 4.2.0 Greylisted'), { kind: 'deferred', scope: 'message' }],
  [
    'is to wait, since we are too fast',
    acting('rcpt', '421 4.7.28 unusual rate of mail from your IP address'),
    { kind: 'deferred', scope: 'host', waitMs: 30 * 60_000 },
  ],
])('a message that %s goes to no other way', async (_what, script, expected) => {
  const { outcome, second } = await sendOver(script);
  expect(outcome).toMatchObject(expected);
  expect(second).toBe(0);
});

test('a way that cannot be reached is left alone for a while, and each message goes out once', async () => {
  await using second = await ScriptedServer.start();
  const route = await routeOver(await deadPort(), second.port);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => send(route)));
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
  expect(second.mails).toHaveLength(20);
});

test('when no way takes anything, messages wait for the first of them', async () => {
  const route = await routeOver(await deadPort(), await deadPort());
  const first = await send(route);
  expect(first).toMatchObject({ kind: 'deferred', scope: 'host' });
  expect(await send(route)).toMatchObject({ kind: 'deferred', scope: 'host', waitMs: expect.any(Number) });
});

test('mail goes by the way of its domain, else by that of the project, else by that of the installation', async () => {
  await using ofDomain = await ScriptedServer.start();
  await using ofProject = await ScriptedServer.start();
  await using ofInstallation = await ScriptedServer.start();
  const before = config.SMTP_URL;
  config.SMTP_URL = ofInstallation.url;
  onTestFinished(() => {
    config.SMTP_URL = before;
  });
  const { id: projectId } = await createProject('Ways');
  const { id: another } = await createProject('No ways');
  await addLocalDomain(projectId, 'example.com');
  await createProvider(projectId, { name: 'all', ...relay(ofProject.port) });
  await createProvider(projectId, { name: 'one', domain: 'EXAMPLE.com', ...relay(ofDomain.port) });
  const over = async (project: string, fromEmail: string) =>
    send(await routeFor({ projectId: project, fromEmail, traffic: 'campaigns', byMailbox: false }));
  await over(projectId, 'news@example.com');
  expect([ofDomain, ofProject, ofInstallation].map(({ mails }) => mails.length)).toEqual([1, 0, 0]);
  await over(projectId, 'news@elsewhere.example');
  expect([ofDomain, ofProject, ofInstallation].map(({ mails }) => mails.length)).toEqual([1, 1, 0]);
  await over(another, 'news@example.com');
  expect([ofDomain, ofProject, ofInstallation].map(({ mails }) => mails.length)).toEqual([1, 1, 1]);
});

test('Amazon SES stands in for a relay that is gone', async () => {
  const ses = await startSes();
  const { id: projectId } = await createProject('Ways');
  const { region, accessKeyId, secretAccessKey, url: endpoint } = ses;
  await createProvider(projectId, { name: 'relay', position: 1, ...relay(await deadPort()) });
  await createProvider(projectId, {
    name: 'ses',
    position: 2,
    ses: { region, accessKeyId, secretAccessKey, endpoint },
  });
  const route = await routeFor({ projectId, fromEmail: 'a@example.com', traffic: 'transactional', byMailbox: false });
  expect(await send(route)).toMatchObject({ kind: 'accepted' });
  expect(ses.mails).toHaveLength(1);
  await ses.close();
});

test('what a domain is told to slow down for, no other way makes good', () => {
  const slow = { kind: 'deferred', answer: '421', scope: 'host', stop: 'domain', waitMs: 1 } as const;
  expect(isTransportFailure(slow)).toBe(false);
});

test('hosts that are known to mind are opened fewer connections', () => {
  expect(providerLimits('smtp.office365.com')).toEqual({ connections: 3, messagesPerConnection: 30 });
  expect(providerLimits('mx1.mail.icloud.com.')).toEqual({ connections: 10, messagesPerConnection: 5 });
  expect(providerLimits('notgmail.com')).toEqual({ connections: 10, messagesPerConnection: 100 });
});
