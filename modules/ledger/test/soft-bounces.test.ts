import { inTransaction, newId, pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { newClaim, settle } from '../src/ledger.ts';
import { recordReports, type Report } from '@postroom/bounces';
import { MAX_SOFT_BOUNCES } from '../src/soft-bounces.ts';

const FULL = 'smtp; 552 5.2.2 Mailbox full';
const EMAIL = 'Ada@mail.test';

/** A message to one address, as it is when a server has it. */
async function message(api: Api, more: { contactId?: string; acceptedDaysAgo?: number; claim?: string } = {}) {
  const id = newId('eml');
  await pool.query(
    `INSERT INTO messages (id, project_id, contact_id, email, subject, state, claim, accepted_at)
     VALUES ($1, $2, $3, $4, 'Hi', CASE WHEN $5::text IS NULL THEN 'accepted' ELSE 'claimed' END::message_state, $5, now() - $6 * interval '1 day')`,
    [id, api.projectId, more.contactId ?? null, EMAIL, more.claim ?? null, more.acceptedDaysAgo ?? 0],
  );
  return id;
}

const tell = (...reports: Pick<Report, 'messageId' | 'kind' | 'detail'>[]) =>
  inTransaction((client) =>
    recordReports(
      client,
      reports.map((report) => ({ ...report, at: new Date() })),
    ),
  );
const comesBack = async (api: Api, detail = FULL, contactId?: string) =>
  tell({ messageId: await message(api, contactId === undefined ? {} : { contactId }), kind: 'bounced', detail });
const suppressions = async (api: Api) =>
  (await api.get('/v1/suppressions')).body.data.map(
    ({ email, reason }: { email: string; reason: string }) => `${email} ${reason}`,
  );

test('five soft bounces in a row suppress an address, in whatever case it is written', async () => {
  const api = await testApi();
  for (let count = 1; count < MAX_SOFT_BOUNCES; count++) await comesBack(api);
  expect(await suppressions(api)).toEqual([]);
  await comesBack(api);
  expect(await suppressions(api)).toEqual([`${EMAIL} bounced`]);
});

test('several that come back at once are counted one by one', async () => {
  const api = await testApi();
  const ids = await Promise.all(Array.from({ length: MAX_SOFT_BOUNCES }, () => message(api)));
  await tell(...ids.map((messageId) => ({ messageId, kind: 'bounced' as const, detail: FULL })));
  expect(await suppressions(api)).toEqual([`${EMAIL} bounced`]);
});

test('a delivery begins the count anew', async () => {
  const api = await testApi();
  for (let count = 1; count < MAX_SOFT_BOUNCES; count++) await comesBack(api);
  await tell({ messageId: await message(api), kind: 'delivered' });
  for (let count = 1; count < MAX_SOFT_BOUNCES; count++) await comesBack(api);
  expect(await suppressions(api)).toEqual([]);
});

test('so does mail that was accepted days ago and never came back, where nobody reports deliveries', async () => {
  const api = await testApi();
  const { id: contactId } = await api.contact(EMAIL);
  for (let count = 1; count < MAX_SOFT_BOUNCES; count++) await comesBack(api, FULL, contactId);
  await message(api, { contactId, acceptedDaysAgo: 4 });
  await comesBack(api, FULL, contactId);
  expect(await suppressions(api)).toEqual([]);
});

test.each([
  ['its content', '552 5.3.4 Message too big'],
  ['a policy', '550 5.7.1 blocked using Spamhaus'],
  ['nothing that is known', '550 Something else'],
])('a bounce for %s never counts', async (_what, detail) => {
  const api = await testApi();
  for (let count = 0; count < MAX_SOFT_BOUNCES + 1; count++) await comesBack(api, detail);
  expect(await suppressions(api)).toEqual([]);
});

test('a hard bounce suppresses at once, and a complaint does', async () => {
  const api = await testApi();
  await comesBack(api, '550 5.1.1 User unknown');
  await tell({ messageId: await message(api), kind: 'complained' });
  expect((await suppressions(api)).sort()).toEqual([`${EMAIL} bounced`, `${EMAIL} complained`]);
});

test('soft refusals of the mail server itself count as well', async () => {
  const api = await testApi();
  for (let count = 0; count < MAX_SOFT_BOUNCES; count++) {
    const claim = newClaim();
    const id = await message(api, { claim });
    await settle(claim, [{ id, state: 'failed', answer: '552 5.2.2 Mailbox full', softBounce: true }]);
  }
  expect(await suppressions(api)).toEqual([`${EMAIL} bounced`]);
});

test('a suppression outlives the contact', async () => {
  const api = await testApi();
  const { id } = await api.contact(EMAIL);
  await comesBack(api, '550 5.1.1 User unknown', id);
  await api.delete(`/v1/contacts/${id}`);
  expect(await suppressions(api)).toEqual([`${EMAIL} bounced`]);
  expect((await api.post('/v1/contacts', { email: EMAIL })).status).toBe(409);
});
