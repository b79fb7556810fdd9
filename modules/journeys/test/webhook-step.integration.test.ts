import { pool } from '@postroom/platform';
import { eventually, type Receiver, signedIn, startReceiver, startTestWorker } from '@postroom/testkit';
import { signature } from '@postroom/guarded-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { at, ended, enroll, journeyProject, pathOf, published, send } from './support.ts';

beforeAll(startTestWorker);

const receivers: Receiver[] = [];
afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())));

/** What the receiver answers, in turn; the last answer is repeated. */
async function answering(...answers: { status: number; body?: string }[]) {
  const receiver = await startReceiver((_request, response) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    response.writeHead(answer?.status ?? 500).end(answer?.body);
  });
  receivers.push(receiver);
  return receiver;
}

const webhook = (url: string, more: object = {}) => ({ id: 'call', type: 'webhook', url, ...more });

/** Makes the next attempts due, as time would. */
const retryNow = (projectId: string) =>
  pool.query('UPDATE journey_calls SET next_attempt_at = now() WHERE project_id = $1 AND next_attempt_at > now()', [
    projectId,
  ]);

test('a step posts the contact, signed, and conditions and templates read the response', async () => {
  const { api, templateId } = await journeyProject('<p>Use {{steps.call.body.coupon}}, {{event.plan}}</p>');
  const owner = await signedIn(api);
  const receiver = await answering({ status: 200, body: '{"coupon":"HELLO10","vip":true}' });
  const ada = await api.contact('ada@example.net', { name: 'Ada' });
  const journey = await published(api, {
    steps: [
      webhook(receiver.url, { next: 'vip' }),
      {
        id: 'vip',
        type: 'condition',
        where: [
          { property: 'steps.call.status', op: 'is', value: 200 },
          { property: 'steps.call.body.vip', op: 'is', value: true },
        ],
        yes: 'mail',
        no: null,
      },
      send('mail', templateId),
    ],
  });
  await enroll(api, journey, [ada.id], { properties: { plan: 'pro' } });
  const run = await ended(api, journey, ada.id);
  expect(pathOf(run)).toEqual(['call called', 'vip yes', 'mail sent']);
  expect(run.steps[0].detail).toBe('HTTP 200');
  const { rows } = await pool.query('SELECT html FROM message_contents WHERE message_id = $1', [
    run.steps[2].messageId,
  ]);
  expect(rows[0].html).toContain('Use HELLO10, pro');

  expect(receiver.received).toHaveLength(1);
  const { headers, raw, event: posted } = receiver.received[0] as Receiver['received'][number];
  expect(posted).toMatchObject({
    id: `${run.id}.1`,
    type: 'journey.webhook',
    project_id: api.projectId,
    data: {
      journey_id: journey,
      enrollment_id: run.id,
      step_id: 'call',
      contact: { id: ada.id, email: 'ada@example.net', name: 'Ada' },
      event: { plan: 'pro' },
    },
  });
  const revealed = await owner.graphql('mutation { revealJourneySigningSecret { secret } }');
  const { secret } = revealed.body.data.revealJourneySigningSecret;
  const timestamp = Number(headers['x-webhook-timestamp']);
  expect(headers['x-webhook-signature']).toBe(signature(secret, { eventId: posted.id, timestamp, body: raw }));
  expect(headers['webhook-id']).toBe(posted.id);
  const stored = await pool.query('SELECT secret FROM journey_signing_secrets WHERE project_id = $1', [api.projectId]);
  expect(stored.rows[0].secret).not.toContain(secret);

  // Without the key that encrypted it, the secret can only be rotated.
  await pool.query(
    `UPDATE journey_signing_secrets SET secret = regexp_replace(secret, '^v2:[^:]+', 'v2:lost') WHERE project_id = $1`,
    [api.projectId],
  );
  const reveal = () => owner.graphql('mutation { revealJourneySigningSecret { secret } }');
  expect((await reveal()).body.errors).toMatchObject([{ extensions: { code: 'conflict' } }]);
  await owner.graphql('mutation { rotateJourneySigningSecret { secret } }');
  expect((await reveal()).body.data.revealJourneySigningSecret.secret).toMatch(/^whsec_/);
});

test('a call that fails is retried with the same id, and after six attempts the contact takes the branch for failures', async () => {
  const { api } = await journeyProject();
  const receiver = await answering({ status: 503 });
  const ada = await api.contact('ada@example.net');
  const journey = await published(api, {
    steps: [
      webhook(receiver.url, { next: null, onFailure: 'failed' }),
      { id: 'failed', type: 'update_field', field: 'name', value: 'Failed' },
    ],
  });
  await enroll(api, journey, [ada.id]);
  await eventually(() => expect(receiver.received).toHaveLength(1));
  expect(await at(api, journey, ada.id, 'call')).toMatchObject({ dueAt: null });
  for (let attempt = 1; attempt <= 6; attempt++) {
    await eventually(() => expect(receiver.received).toHaveLength(attempt));
    await eventually(async () => {
      const { rows } = await pool.query('SELECT attempt_count FROM journey_calls WHERE project_id = $1', [
        api.projectId,
      ]);
      expect(rows).toEqual([{ attempt_count: attempt }]);
    });
    await retryNow(api.projectId);
  }
  const run = await ended(api, journey, ada.id);
  expect(pathOf(run)).toEqual(['call call_failed', 'failed updated']);
  expect(run.steps[0].detail).toBe('HTTP 503');
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([`${run.id}.1`]));
});

test('an endpoint that hangs holds up neither other steps nor other hosts, and gets ten calls at a time', async () => {
  const { api } = await journeyProject();
  const hanging = await startReceiver(() => {});
  receivers.push(hanging);
  const quick = await answering({ status: 204 });
  const ids = await Promise.all(
    Array.from({ length: 15 }, async (_, index) => (await api.contact(`c${index}@example.net`)).id as string),
  );
  const slow = await published(api, { steps: [webhook(hanging.url)] }, 'Slow');
  await enroll(api, slow, ids);
  await eventually(() => expect(hanging.received).toHaveLength(10));
  const journey = await published(api, { steps: [webhook(quick.url)] }, 'Quick');
  const began = Date.now();
  await enroll(api, journey, ids);
  for (const id of ids) expect(pathOf(await ended(api, journey, id))).toEqual(['call called']);
  expect(Date.now() - began).toBeLessThan(9_000);
  expect(hanging.received).toHaveLength(10);
});

test('a call of a run that was moved away is not made, and one that a killed process began is repeated', async () => {
  const { api } = await journeyProject();
  const receiver = await answering({ status: 500 }, { status: 200 });
  const [ada, bob] = [await api.contact('ada@example.net'), await api.contact('bob@example.net')];
  const journey = await published(api, {
    steps: [webhook(receiver.url, { next: 'end' }), { id: 'end', type: 'wait', for: { days: 1 } }],
  });
  await enroll(api, journey, [ada.id]);
  await eventually(async () => {
    const { rows } = await pool.query('SELECT attempt_count FROM journey_calls WHERE project_id = $1', [api.projectId]);
    expect(rows).toEqual([{ attempt_count: 1 }]);
  });
  const { id } = await at(api, journey, ada.id, 'call');
  await api.post(`/v1/enrollments/${id}/move`, { step_id: 'end' });
  // A killed process leaves a call that was claimed: it is due when the claim expires.
  await retryNow(api.projectId);
  await enroll(api, journey, [bob.id]);
  await at(api, journey, bob.id, 'end');
  await eventually(async () => {
    const { rows } = await pool.query(
      'SELECT 1 FROM journey_calls WHERE project_id = $1 AND next_attempt_at IS NOT NULL',
      [api.projectId],
    );
    expect(rows).toEqual([]);
  });
  expect(receiver.received).toHaveLength(2);
});

test('a URL that is internal, no https, or has an unknown scheme is refused with its step', async () => {
  const { api } = await journeyProject();
  const { id } = (
    await api.post('/v1/journeys', {
      name: 'Bad',
      definition: { entry: { type: 'manual' }, steps: [webhook('ftp://files.example/x')] },
    })
  ).body.data;
  const reply = await api.post(`/v1/journeys/${id}/publish`, {});
  expect(reply.status).toBe(400);
  expect(reply.body.error.details).toMatchObject([
    { field: 'definition.steps.0.url', message: expect.stringMatching(/"call"/) },
  ]);
});

test('a URL whose host is longer than an id of Temporal is called, or fails like any other, and delays no other call', async () => {
  const { api, templateId } = await journeyProject();
  const receiver = await answering({ status: 200 });
  const [ada, bob] = [await api.contact('ada@example.net'), await api.contact('bob@example.net')];
  const host = `${'a'.repeat(60)}.`.repeat(20);
  const steps = (url: string) => ({ steps: [webhook(url, { next: 'mail' }), send('mail', templateId)] });
  const long = await published(api, steps(`https://${host}invalid/`), 'Long');
  const short = await published(api, steps(receiver.url), 'Short');
  await enroll(api, long, [ada.id]);
  const attempted = () =>
    pool.query('SELECT attempt_count AS count FROM journey_calls WHERE project_id = $1 AND journey_calls.host <> $2', [
      api.projectId,
      new URL(receiver.url).host,
    ]);
  await eventually(async () => expect((await attempted()).rows).toEqual([{ count: 1 }]), 20_000);
  await enroll(api, short, [bob.id]);
  expect(pathOf(await ended(api, short, bob.id))).toEqual(['call called', 'mail sent']);
});
