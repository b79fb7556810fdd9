import { newId } from '@postroom/platform';
import { ScriptedServer, type Script } from '@postroom/smtp/testing';
import { eventually, mailSystem } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { campaignKit } from './testing.ts';

const { sink, system } = await mailSystem();
const { campaignTo, read, untilStatus, eventsOf, expectCountersToAgree } = campaignKit(() => ({ system, sink }));

/** A campaign whose project has a relay that misbehaves by script. Two connections are for campaigns. */
async function campaignBy(script: Script, count: number, more: Record<string, unknown> = {}) {
  const server = await ScriptedServer.start(script);
  const made = await campaignTo('reader', count, more);
  const provider = newId('prv');
  await system.pool.query(
    `INSERT INTO mail_providers (id, project_id, position, name, kind, settings, token, updated_at)
     VALUES ($1, $2, 1, 'Relay', 'smtp', $3, $1, now())`,
    [provider, made.api.projectId, { host: '127.0.0.1', port: server.port, tls: 'optional', connections: 4 }],
  );
  const health = async () => {
    const { rows } = await system.pool.query<{ status: string; reason: string | null }>(
      'SELECT status, status_reason AS reason FROM mail_providers WHERE id = $1',
      [provider],
    );
    return rows[0];
  };
  return { ...made, server, health, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test('a server that does not reply to a message does not hold up the others', async () => {
  const stuck = (stage: string, nth: number) =>
    stage === 'dot' && nth === 0 ? ({ after: 'silence' } as const) : undefined;
  // With PIPELINING, the connection may have begun the next message too, which then waits with it.
  await using it = await campaignBy({ act: stuck, offers: ['8BITMIME'] }, 180, { rate_per_second: 9 });
  await it.api.post(`${it.path}/send`);
  await eventually(async () => expect((await read(it.api, it.path)).progress.accepted).toBe(179), 60_000);
  expect(await read(it.api, it.path)).toMatchObject({ status: 'sending', progress: { claimed: 1 } });
  await it.server[Symbol.asyncDispose]();
  const { progress } = await untilStatus(it.api, it.path, 'completed');
  expect(progress).toMatchObject({ accepted: 179, unknown: 1 });
  await expectCountersToAgree(it.api, it.path);
}, 120_000);

test('a campaign whose server never greets is paused, resumed and canceled within seconds', async () => {
  await using it = await campaignBy({ act: (stage) => (stage === 'greeting' ? {} : undefined) }, 60);
  const untilProgress = (progress: object) =>
    eventually(async () => expect((await read(it.api, it.path)).progress).toMatchObject(progress), 15_000);
  await it.api.post(`${it.path}/send`);
  await eventually(() => expect(it.server.open).toBe(2));
  await eventually(
    async () =>
      expect(await read(it.api, it.path)).toMatchObject({
        waitingReason: 'The mail server has not replied for 15 seconds.',
        waitingUntil: null,
      }),
    30_000,
  );
  await it.api.post(`${it.path}/pause`);
  await untilProgress({ planned: 60, claimed: 0 });
  await it.api.post(`${it.path}/resume`);
  await eventually(async () => expect((await read(it.api, it.path)).progress.claimed).toBeGreaterThan(0));
  await it.api.post(`${it.path}/cancel`);
  await untilProgress({ planned: 0, claimed: 0, canceled: 60 });
  await expectCountersToAgree(it.api, it.path);
}, 90_000);

test('a campaign that is canceled while its server does not reply counts the messages that it will not send', async () => {
  let silent = 0;
  const silence = (stage: string) => (stage === 'dot' && ++silent > 0 ? ({ after: 'silence' } as const) : undefined);
  await using it = await campaignBy({ act: silence }, 60);
  await it.api.post(`${it.path}/send`);
  await eventually(() => expect(silent).toBe(2));
  await it.api.post(`${it.path}/cancel`);
  // Two messages wait for a reply, and two for a connection.
  await eventually(
    async () => expect((await read(it.api, it.path)).progress).toMatchObject({ planned: 0, canceled: 56 }),
    15_000,
  );
  await it.server[Symbol.asyncDispose]();
  await eventually(async () =>
    expect((await read(it.api, it.path)).progress).toMatchObject({ claimed: 0, unknown: 2, canceled: 58 }),
  );
  await expectCountersToAgree(it.api, it.path);
}, 90_000);

test('a campaign says why it waits for its server, and so does the provider, until the server accepts mail', async () => {
  let isBusy = true;
  const busy = (stage: string) =>
    stage === 'rcpt' && isBusy
      ? ({ reply: '421 4.7.0 \u001b[31mToo\u202e\u200f busy', after: 'end' } as const)
      : undefined;
  await using it = await campaignBy({ act: busy }, 30);
  await it.api.post(`${it.path}/send`);
  await eventually(async () =>
    expect(await read(it.api, it.path)).toMatchObject({
      status: 'sending',
      waitingReason: 'The mail server accepts no mail at the moment: 421 4.7.0 [31mToo busy.',
      waitingUntil: expect.any(String),
    }),
  );
  await eventually(async () =>
    expect(await it.health()).toEqual({ status: 'failing', reason: '421 4.7.0 [31mToo busy' }),
  );
  isBusy = false;
  const campaign = await untilStatus(it.api, it.path, 'completed');
  expect(campaign).toMatchObject({ progress: { accepted: 30 }, waitingReason: null, waitingUntil: null });
  await eventually(async () => expect(await it.health()).toEqual({ status: 'working', reason: null }));
}, 120_000);

test('a server that rejects every recipient gets no more than what was in flight after the limit', async () => {
  const reject = (stage: string) => (stage === 'rcpt' ? '554 5.7.1 Blocked by policy' : undefined);
  await using it = await campaignBy({ act: reject }, 600);
  await it.api.post(`${it.path}/send`);
  const paused = await untilStatus(it.api, it.path, 'paused');
  expect(paused.pauseReason).toBe(
    'Mail servers rejected 25 messages in a row. The last reply was: 554 5.7.1 Blocked by policy',
  );
  const { failed } = await eventually(async () => {
    const { progress } = await read(it.api, it.path);
    expect(progress.claimed).toBe(0);
    return progress;
  });
  expect(failed).toBeGreaterThanOrEqual(25);
  expect(failed).toBeLessThan(50);
  expect(await eventsOf(it.api, 'campaign.paused')).toHaveLength(1);
  await expectCountersToAgree(it.api, it.path);
}, 90_000);
