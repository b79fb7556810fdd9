import { lockSuppressions, suppress } from '@postroom/contacts';
import { pool, sql } from '@postroom/platform';
import { type Api, interleave, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { advance } from '../src/advance.ts';
import { type PublishedJourney, pauseAutomatically, readActive } from '../src/journeys.ts';
import { enroll, published } from './support.ts';

const signal = new AbortController().signal;

/** A project whose contact Ada is at the first step of a journey, which is due. */
async function adaIn(steps: (groupId: string) => object[]) {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.net'), await api.contact('bob@example.net')];
  const group = (await api.post('/v1/groups', { name: 'Team', contact_ids: [ada.id, bob.id] })).body.data;
  const id = await published(api, { steps: steps(group.id) });
  await enroll(api, id, [ada.id]);
  return { api, ada, bob, group, id };
}

const runs = async (id: string) =>
  (await pool.query('SELECT status, end_reason, properties FROM enrollments WHERE journey_id = $1', [id])).rows;

const contactsOf = async (api: Api) =>
  (await api.get('/v1/contacts')).body.data.map(({ email, name }: { email: string; name: string }) => [email, name]);

const nameStep = { id: 'name', type: 'update_field', field: 'name', value: 'Countess', next: null };

test('a step changes the contact whose address has just changed, and creates no other', async () => {
  const { api, ada, id } = await adaIn(() => [nameStep]);
  await interleave(
    (tx) =>
      sql(tx, `UPDATE contacts SET email = 'new@example.net', email_key = 'new@example.net' WHERE id = $1`, [ada.id]),
    () => advance({ id, projectId: api.projectId }, signal),
  );
  expect(await contactsOf(api)).toEqual([
    ['bob@example.net', 'bob'],
    ['new@example.net', 'Countess'],
  ]);
});

test('a step changes a contact whose address is being suppressed', async () => {
  const { api, ada, id } = await adaIn(() => [nameStep]);
  await interleave(
    (tx) => lockSuppressions(tx, api.projectId),
    () => advance({ id, projectId: api.projectId }, signal),
    async (tx) => {
      await sql(tx, 'SELECT FROM contacts WHERE id = $1 FOR UPDATE', [ada.id]);
      await suppress(tx, api.projectId, [{ email: 'ada@example.net', reason: 'bounced' }]);
    },
  );
  expect(await contactsOf(api)).toContainEqual(['ada@example.net', 'Countess']);
});

test('the last member stays in a group that the others leave at the same moment, and the journey goes on', async () => {
  const { api, ada, bob, group, id } = await adaIn((groupId) => [
    { id: 'leave', type: 'leave_group', groupId, next: null },
  ]);
  await interleave(
    async (tx) => {
      await sql(tx, 'SELECT FROM groups WHERE id = $1 FOR UPDATE', [group.id]);
      await sql(tx, 'DELETE FROM group_members WHERE group_id = $1 AND contact_id = $2', [group.id, bob.id]);
    },
    () => advance({ id, projectId: api.projectId }, signal),
  );
  expect((await api.get(`/v1/journeys/${id}`)).body.data).toMatchObject({ status: 'active', pausedReason: null });
  expect(await runs(id)).toMatchObject([{ status: 'completed' }]);
  expect((await api.get(`/v1/groups/${group.id}`)).body.data.contacts).toMatchObject([{ id: ada.id }]);
});

test('a page that fails does not pause the version that was published meanwhile, or a journey that was resumed', async () => {
  const { api, id } = await adaIn(() => [nameStep]);
  const state = async () => {
    const { status, pausedReason } = (await api.get(`/v1/journeys/${id}`)).body.data;
    return [status, pausedReason];
  };
  for (const changes of [['publish'], ['pause', 'resume']]) {
    const journey = (await readActive(id)) as PublishedJourney;
    for (const change of changes) expect((await api.post(`/v1/journeys/${id}/${change}`, {})).status).toBe(200);
    await pauseAutomatically(journey, 'The step failed.');
    expect(await state()).toEqual(['active', null]);
  }
  await pauseAutomatically((await readActive(id)) as PublishedJourney, 'The step failed.');
  expect(await state()).toEqual(['paused', 'The step failed.']);
});

test('a contact that is deleted while it enters a journey leaves no run', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.net');
  const id = await published(api, { steps: [nameStep] });
  const reply = await interleave(
    (tx) => sql(tx, 'DELETE FROM contacts WHERE id = $1', [ada.id]),
    () => api.post(`/v1/journeys/${id}/enrollments`, { contact_ids: [ada.id], properties: { phone: '555' } }),
  );
  expect(reply.body.data.results).toMatchObject([{ outcome: 'unknown' }]);
  expect(await runs(id)).toEqual([]);
});

test('a contact is deleted while the outcome of a call for it is being recorded', async () => {
  const { api, ada, id } = await adaIn(() => [
    { id: 'call', type: 'webhook', url: 'https://hooks.example.net/', next: null },
  ]);
  await advance({ id, projectId: api.projectId }, signal);
  const reply = await interleave(
    (tx) => sql(tx, 'UPDATE enrollments SET due_at = now() WHERE journey_id = $1', [id]),
    () => api.delete(`/v1/contacts/${ada.id}`),
    (tx) => sql(tx, 'UPDATE journey_calls SET attempt_count = 1 WHERE project_id = $1 RETURNING id', [api.projectId]),
  );
  expect(reply.status).toBe(200);
  expect(await runs(id)).toMatchObject([{ end_reason: 'contact_deleted' }]);
});

test('contacts are tracked, enrolled, moved, changed and deleted at the same time: no contact is left in a journey, and nothing deadlocks', async () => {
  const { api, group, id } = await adaIn((groupId) => [
    { id: 'wait', type: 'wait_for_event', event: 'paid', timeout: { minutes: 1 }, next: 'name' },
    { ...nameStep, next: 'leave' },
    { id: 'leave', type: 'leave_group', groupId, next: 'join' },
    { id: 'join', type: 'join_group', groupId, next: null },
  ]);
  const entered = await published(api, { entry: { type: 'event', event: 'paid' }, steps: [nameStep] }, 'Entered');
  const emails = Array.from({ length: 6 }, (_, index) => `p${index}@example.net`);
  const until = Date.now() + 5_000;
  const errors: unknown[] = [];
  const expectOk = ({ status, body }: { status: number; body: unknown }, ...others: number[]) => {
    if (![200, 201, ...others].includes(status)) errors.push(body);
  };
  const pick = () => emails[Math.floor(Math.random() * emails.length)] as string;
  const idOf = async (email: string) => (await api.get(`/v1/contacts?email=${email}`)).body.data[0]?.id ?? 'ctc_none';
  const repeat = async (work: () => Promise<unknown>) => {
    while (Date.now() < until) await work().catch((error: unknown) => errors.push(error));
  };
  await Promise.all([
    repeat(async () =>
      expectOk(await api.post('/v1/events', { name: 'paid', email: pick(), create_contact: true }), 400),
    ),
    repeat(async () =>
      expectOk(await api.post('/v1/events', { name: 'paid', email: pick(), create_contact: true }), 400),
    ),
    repeat(async () => expectOk(await api.post(`/v1/journeys/${id}/enrollments`, { emails: emails.slice(0, 3) }))),
    repeat(async () => expectOk(await api.post(`/v1/groups/${group.id}/contacts`, { emails }))),
    repeat(async () => expectOk(await api.patch(`/v1/contacts/${await idOf(pick())}`, { name: 'Ada' }), 404)),
    repeat(async () => expectOk(await api.patch(`/v1/contacts/${await idOf(pick())}`, { subscribed: false }), 404)),
    repeat(async () => expectOk(await api.patch(`/v1/contacts/${await idOf(pick())}`, { subscribed: true }), 404)),
    repeat(async () => expectOk(await api.delete(`/v1/contacts/${await idOf(pick())}`), 404)),
    repeat(() => advance({ id, projectId: api.projectId }, signal)),
    repeat(() => advance({ id: entered, projectId: api.projectId }, signal)),
  ]);
  expect(errors).toEqual([]);
  const { rows } = await pool.query(
    `SELECT e.id FROM enrollments e WHERE e.project_id = $1 AND (e.ended_at IS NULL OR e.properties <> '{}')
       AND NOT EXISTS (SELECT FROM contacts c WHERE c.id = e.contact_id)`,
    [api.projectId],
  );
  expect(rows).toEqual([]);
}, 60_000);
