import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestWorker } from '@postroom/testkit';
import { programs } from '@postroom/testkit/programs';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import * as workflows from '../src/index.ts';

// Histories of earlier versions, recorded by scripts/record-histories.ts. A workflow that is open during a deployment is replayed
// by the new version and gets stuck if that version behaves differently.
const folder = join(import.meta.dirname, '../histories');
const recorded = readdirSync(folder).map((file) => ({
  workflowId: file.replace('.json', ''),
  text: readFileSync(join(folder, file), 'utf8'),
}));

beforeAll(startTestWorker); // a process has one Temporal runtime, and this is who sets it up

/** Replays histories; returns what failed, by the workflow's id. */
async function replay(histories: typeof recorded): Promise<Record<string, string>> {
  const failures: Record<string, string> = {};
  const results = Worker.runReplayHistories(
    { workflowBundle: await programs().workflowBundle() },
    histories.map(({ workflowId, text }) => ({
      workflowId,
      history: proto.temporal.api.history.v1.History.fromObject(JSON.parse(text)),
    })),
  );
  for await (const { workflowId, error } of results) if (error) failures[workflowId] = error.message;
  return failures;
}

test('current code replays every recorded history', async () => {
  expect(await replay(recorded)).toEqual({});
});

test('each workflow has a recorded history', () => {
  const names = Object.entries(workflows).flatMap(([name, exported]) => (typeof exported === 'function' ? [name] : []));
  expect(names.filter((name) => !recorded.some(({ workflowId }) => workflowId.startsWith(`${name}.`)))).toEqual([]);
});

test('code that diverges from a recorded history is detected', async () => {
  const other = recorded
    .filter(({ workflowId }) => workflowId === 'deliverWebhook.failed-after-six-attempts')
    .map(({ workflowId, text }) => ({ workflowId, text: text.replaceAll('attemptDelivery', 'attemptSomething') }));
  expect(Object.keys(await replay(other))).toEqual(['deliverWebhook.failed-after-six-attempts']);
});

test('a campaign that an older release sent without the shards that were asked for goes on without', async () => {
  const asked = (data: string) =>
    Buffer.from(data, 'base64').toString().replace('"hold":null', '"hold":null,"shards":2');
  const asking = recorded
    .filter(({ workflowId }) => workflowId === 'sendCampaign.completed')
    .map(({ workflowId, text }) => ({
      workflowId,
      text: text.replaceAll(/(?<="data": ")[^"]+/g, (data) => Buffer.from(asked(data)).toString('base64')),
    }));
  expect(recorded).not.toContainEqual(asking[0]);
  expect(await replay(asking)).toEqual({});
});
