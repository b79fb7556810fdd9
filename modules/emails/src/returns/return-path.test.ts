import { newId } from '@postroom/platform';
import { eventually, type SmtpSink, startSmtpSink, startSystem, type System } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readReturnAddress, returnAddress } from './index.ts';

let sink: SmtpSink;
let system: System;

beforeAll(async () => {
  sink = await startSmtpSink();
  system = await startSystem({ smtpUrl: sink.url });
  await system.startWorker();
}, 120_000);

afterAll(async () => {
  await system.stop();
  await sink.close();
});

test('a return address names its message, in any case, and fits the 64 octets of a local part', () => {
  const id = newId('eml');
  const address = returnAddress(id, 'bounce.example.com');
  expect(address.indexOf('@')).toBeLessThanOrEqual(64);
  expect(readReturnAddress(address)).toBe(id);
  expect(readReturnAddress(address.toUpperCase())).toBe(id);
  expect(readReturnAddress(address.replace(/.@/, (last) => (last === 'a@' ? 'b@' : 'a@')))).toBeUndefined();
});

test('mail goes out under a return address of its own where the MAIL FROM subdomain is seen, else under its From', async () => {
  const api = await system.api();
  const send = (to: string) =>
    api.post('/v1/emails', { from: 'Acme <hello@example.com>', to: [to], subject: 'Hi', html: '<p>Hi</p>' });
  const mailTo = (to: string) =>
    eventually(() => {
      const mail = sink.mails.find((mail) => mail.to === to);
      expect(mail).toBeDefined();
      return mail!;
    }, 30_000);
  await send('plain@mail.test');
  expect((await mailTo('plain@mail.test')).from).toBe('hello@example.com');
  await system.pool.query(
    `UPDATE domains SET mail_from_domain = 'bounce.example.com', mail_from = 'verified' WHERE project_id = $1`,
    [api.projectId],
  );
  await eventually(async () => {
    const { body } = await send(`returns${Date.now()}@mail.test`);
    const { id } = body.data;
    const mail = await eventually(() => {
      const found = sink.mails.find(({ raw }) => raw.includes(id));
      expect(found).toBeDefined();
      return found!;
    }, 30_000);
    expect(mail.from).toMatch(/^b\+[0-9a-z]{46}@bounce\.example\.com$/);
    expect(readReturnAddress(mail.from)).toBe(id);
    expect(mail.raw).toContain('From: Acme <hello@example.com>');
  }, 30_000);
});
