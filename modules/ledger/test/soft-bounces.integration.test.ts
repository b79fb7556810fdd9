import { inTransaction, newId, pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { settle } from '../src/ledger.ts';
import { newClaim } from '../src/claim.ts';
import { recordReports, type Report } from '@postroom/bounces';
import { MAIL_POLICY } from '../src/policy.ts';

const FULL = 'smtp; 552 5.2.2 Mailbox full';
const EMAIL = 'Ada@mail.test';

/** Inserts an accepted message, or a claimed one if `claim` is given. */
async function message(api: Api, more: { contactId?: string; acceptedDaysAgo?: number; claim?: string } = {}) {
  const id = newId('eml');
  await pool.query(
    `INSERT INTO messages (id, project_id, contact_id, email, subject, state, claim, accepted_at)
     VALUES ($1, $2, $3, $4, 'Hi', CASE WHEN $5::text IS NULL THEN 'accepted' ELSE 'claimed' END::message_state, $5, now() - $6 * interval '1 day')`,
    [id, api.projectId, more.contactId ?? null, EMAIL, more.claim ?? null, more.acceptedDaysAgo ?? 0],
  );
  return id;
}

const report = (...reports: Pick<Report, 'messageId' | 'kind' | 'detail'>[]) =>
  inTransaction((client) =>
    recordReports(
      client,
      reports.map((each) => ({ ...each, at: new Date() })),
    ),
  );
const bounce = async (api: Api, detail = FULL, contactId?: string) =>
  report({ messageId: await message(api, contactId === undefined ? {} : { contactId }), kind: 'bounced', detail });
const suppressions = async (api: Api) =>
  (await api.get('/v1/suppressions')).body.data.map(
    ({ email, reason }: { email: string; reason: string }) => `${email} ${reason}`,
  );

test('five consecutive soft bounces suppress an address regardless of case', async () => {
  const api = await testApi();
  for (let count = 1; count < MAIL_POLICY.softBounces.max; count++) await bounce(api);
  expect(await suppressions(api)).toEqual([]);
  await bounce(api);
  expect(await suppressions(api)).toEqual([`${EMAIL} bounced`]);
});

test('bounces reported at once are counted individually', async () => {
  const api = await testApi();
  const ids = await Promise.all(Array.from({ length: MAIL_POLICY.softBounces.max }, () => message(api)));
  await report(...ids.map((messageId) => ({ messageId, kind: 'bounced' as const, detail: FULL })));
  expect(await suppressions(api)).toEqual([`${EMAIL} bounced`]);
});

test('a delivery restarts the count', async () => {
  const api = await testApi();
  for (let count = 1; count < MAIL_POLICY.softBounces.max; count++) await bounce(api);
  await report({ messageId: await message(api), kind: 'delivered' });
  for (let count = 1; count < MAIL_POLICY.softBounces.max; count++) await bounce(api);
  expect(await suppressions(api)).toEqual([]);
});

test('mail accepted days ago without a bounce restarts the count, even if no delivery is reported', async () => {
  const api = await testApi();
  const { id: contactId } = await api.contact(EMAIL);
  for (let count = 1; count < MAIL_POLICY.softBounces.max; count++) await bounce(api, FULL, contactId);
  await message(api, { contactId, acceptedDaysAgo: 4 });
  await bounce(api, FULL, contactId);
  expect(await suppressions(api)).toEqual([]);
});

test.each([
  ['its content', '552 5.3.4 Message too big'],
  ['a policy', '550 5.7.1 blocked using Spamhaus'],
  ['an unknown reason', '550 Something else'],
])('a bounce for %s never counts', async (_what, detail) => {
  const api = await testApi();
  for (let count = 0; count < MAIL_POLICY.softBounces.max + 1; count++) await bounce(api, detail);
  expect(await suppressions(api)).toEqual([]);
});

test('a hard bounce or a complaint suppresses an address immediately', async () => {
  const api = await testApi();
  await bounce(api, '550 5.1.1 User unknown');
  await report({ messageId: await message(api), kind: 'complained' });
  expect((await suppressions(api)).sort()).toEqual([`${EMAIL} bounced`, `${EMAIL} complained`]);
});

test('soft rejections by the mail server count as well', async () => {
  const api = await testApi();
  for (let count = 0; count < MAIL_POLICY.softBounces.max; count++) {
    const claim = newClaim();
    const id = await message(api, { claim });
    await settle(claim, [{ id, state: 'failed', answer: '552 5.2.2 Mailbox full', softBounce: true }]);
  }
  expect(await suppressions(api)).toEqual([`${EMAIL} bounced`]);
});

test('a suppression outlives the contact', async () => {
  const api = await testApi();
  const { id } = await api.contact(EMAIL);
  await bounce(api, '550 5.1.1 User unknown', id);
  await api.delete(`/v1/contacts/${id}`);
  expect(await suppressions(api)).toEqual([`${EMAIL} bounced`]);
  expect((await api.post('/v1/contacts', { email: EMAIL })).status).toBe(409);
});
