import { newId } from '@postroom/platform';
import { eventually, mailSystem } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { parseReturnAddress, returnAddress } from '../src/index.ts';

const { sink, system } = await mailSystem();

test('a return address names its message, in any case, and fits the 64 octets of a local part', () => {
  const id = newId('eml');
  const address = returnAddress(id, 'bounce.example.com', { projectId: newId('prj'), email: 'ada@example.org' });
  expect(address.indexOf('@')).toBeLessThanOrEqual(64);
  expect(parseReturnAddress(address)?.messageId).toBe(id);
  expect(parseReturnAddress(address.toUpperCase())).toMatchObject({ messageId: id, domain: 'bounce.example.com' });
  expect(
    parseReturnAddress(address.replace(/.{32}@/, (end) => `${end.startsWith('a') ? 'b' : 'a'}${end.slice(1)}`)),
  ).toBeUndefined();
});

test("a return address distinguishes its message's recipient from everyone else, also in other projects", () => {
  const [id, projectId] = [newId('eml'), newId('prj')];
  for (const email of ['ada@example.org', 'Zoë@bücher.example']) {
    const read = parseReturnAddress(returnAddress(id, 'bounce.example.com', { projectId, email }).toUpperCase());
    const isOf = (to: object) => read?.isOf({ projectId, email, ...to });
    expect([isOf({}), isOf({ email: email.toUpperCase() })]).toEqual([true, true]);
    expect([isOf({ email: 'eve@example.org' }), isOf({ projectId: newId('prj') })]).toEqual([false, false]);
  }
});

test('return addresses from before recipients were signed still identify their message and no one else', () => {
  const [id, to] = [newId('eml'), { projectId: newId('prj'), email: 'ada@example.org' }];
  const read = parseReturnAddress(returnAddress(id, 'bounce.example.com', to).replace(/.{12}@/, '@'));
  expect([read?.messageId, read?.isOf(to)]).toEqual([id, false]);
});

test('an address that we did not sign is none', () => {
  const address = returnAddress(newId('eml'), 'bounce.example.com', {
    projectId: newId('prj'),
    email: 'ada@example.org',
  });
  expect(parseReturnAddress(address.replace(/b\+.{4}/, 'b+0000'))).toBeUndefined();
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
    const to = `returns${Date.now()}@mail.test`;
    const { body } = await send(to);
    const { id } = body.data;
    const mail = await eventually(() => {
      const found = sink.mails.find(({ raw }) => raw.includes(id));
      expect(found).toBeDefined();
      return found!;
    }, 30_000);
    expect(mail.from).toMatch(/^b\+[0-9a-z]{58}@bounce\.example\.com$/);
    const read = parseReturnAddress(mail.from);
    expect([read?.messageId, read?.isOf({ projectId: api.projectId, email: to })]).toEqual([id, true]);
    expect(mail.raw).toContain('From: Acme <hello@example.com>');
  }, 30_000);
});
