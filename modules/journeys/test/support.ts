import { addLocalDomain } from '@postroom/domains';
import { pool } from '@postroom/platform';
import { type Api, eventually, type SignedIn, testApi } from '@postroom/testkit';
import { expect } from 'vitest';

/** A project that may send, with a published template. */
export async function journeyProject(body = '<p>Hello {{name|there}}</p>') {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  const template = (await api.post('/v1/templates', { name: 'Hello', subject: 'Hello {{name|there}}', body })).body
    .data;
  expect((await api.post(`/v1/templates/${template.id}/publish`)).status).toBe(200);
  return { api, templateId: template.id as string };
}

/** A step that waits for two days. */
export const wait = (id: string, next: string | null) => ({ id, type: 'wait', for: { days: 2 }, next });

export const send = (id: string, templateId: string, next: string | null = null) => ({
  id,
  type: 'send',
  templateId,
  from: 'News <news@example.com>',
  next,
});

/** Creates and publishes a journey. */
export async function published(api: Api, definition: object, name = 'Journey') {
  const created = await api.post('/v1/journeys', { name, definition: { entry: { type: 'manual' }, ...definition } });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  const { id } = created.body.data;
  const reply = await api.post(`/v1/journeys/${id}/publish`, {});
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return id as string;
}

export async function enroll(api: Api, journeyId: string, contactIds: string[], more: object = {}) {
  const reply = await api.post(`/v1/journeys/${journeyId}/enrollments`, { contact_ids: contactIds, ...more });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body.data.results as { contactId: string; outcome: string }[];
}

/** The latest run of a contact in a journey. */
export async function runOf(api: Api, journeyId: string, contactId: string) {
  const { data } = (await api.get(`/v1/journeys/${journeyId}/enrollments?contact_id=${contactId}`)).body;
  return data[0];
}

/** The run of a contact once it has ended. */
export const ended = (api: Api, journeyId: string, contactId: string) =>
  eventually(async () => {
    const run = await runOf(api, journeyId, contactId);
    expect(run?.endedAt, JSON.stringify(run)).toBeTruthy();
    return run;
  }, 30_000);

/** The run of a contact once it is at a step. */
export const at = (api: Api, journeyId: string, contactId: string, stepId: string) =>
  eventually(async () => {
    const run = await runOf(api, journeyId, contactId);
    expect(run).toMatchObject({ stepId, endedAt: null });
    return run;
  }, 30_000);

/** What a run did, as `step outcome`. */
export const pathOf = (run: { steps: { stepId: string; outcome: string }[] }) =>
  run.steps.map(({ stepId, outcome }) => `${stepId} ${outcome}`);

/** Makes what waits in a journey due, as time would. */
export const makeDue = (journeyId: string) =>
  pool.query(
    `UPDATE enrollments SET due_at = now(), entered_at = entered_at - interval '1 day' WHERE journey_id = $1 AND due_at > now()`,
    [journeyId],
  );

/** How many runs went which way, as the journey reports it. */
export const passagesOf = async (api: Api, id: string) => (await api.get(`/v1/journeys/${id}`)).body.data.passages;

/** The notifications of a user. */
export const notices = async (owner: SignedIn) =>
  (await owner.graphql('{ notifications(first: 10) { nodes { kind subjectId title detail } } }')).body.data
    .notifications.nodes;
