import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { temporalClient } from '@postroom/testkit';
import { expect, test, vi } from 'vitest';
import { inTransaction, NOW, pool } from '../src/db.ts';
import { signalWorkflow, startWorkflow } from '../src/outbox.ts';
import { outboxSource, startAll, startDispatcher, startOnce } from '../src/dispatcher.ts';

const client = await temporalClient();

/** Dispatches until the rows of these workflows are gone; other tests' rows may wait in the same table. */
async function relay(workflowIds: string[]): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query('SELECT 1 FROM outbox WHERE workflow_id = ANY ($1) LIMIT 1', [workflowIds]);
    if (rowCount === 0) return;
    await outboxSource.dispatch(client);
  }
}

/** A worker of another test may be rejecting the unknown workflow right now; Temporal shows the signal afterwards. */
async function expectSignal(workflowId: string, signal: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      const signals = events?.map((event) => event.workflowExecutionSignaledEventAttributes?.signalName);
      expect(signals).toContain(signal);
    },
    { timeout: 20_000 },
  );
}

const start = (workflowId: string) => ({ workflowId, type: 'nobodyRunsThis', args: [workflowId], summary: 'A test' });

test('a workflow starts only when the transaction that asked for it commits', async () => {
  const [kept, dropped] = [`test-${randomUUID()}`, `test-${randomUUID()}`];
  await inTransaction((tx) => startWorkflow(tx, start(kept)));
  await inTransaction(async (tx) => {
    await startWorkflow(tx, start(dropped));
    throw new Error('rolled back');
  }).catch(() => {});
  await relay([kept, dropped]);
  expect((await client.workflow.getHandle(kept).describe()).status.name).toBe('RUNNING');
  await expect(client.workflow.getHandle(dropped).describe()).rejects.toThrow(/not found/i);
  await client.workflow.getHandle(kept).terminate();
});

test('a row that is relayed twice starts one workflow, also when it has ended since', async () => {
  const workflowId = `test-${randomUUID()}`;
  await inTransaction((tx) => startWorkflow(tx, start(workflowId)));
  await relay([workflowId]);
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  await client.workflow.getHandle(workflowId).terminate();
  await inTransaction((tx) => startWorkflow(tx, start(workflowId)));
  await relay([workflowId]);
  expect((await client.workflow.getHandle(workflowId).describe()).runId).toBe(runId);
});

test('a signal to a workflow that has ended is done with; one to a workflow not started yet waits its turn', async () => {
  const workflowId = `test-${randomUUID()}`;
  await inTransaction(async (tx) => {
    await startWorkflow(tx, start(workflowId));
    await signalWorkflow(tx, { workflowId, signal: 'pause' });
  });
  await relay([workflowId]);
  await expectSignal(workflowId, 'pause');
  await client.workflow.getHandle(workflowId).terminate();
  await inTransaction((tx) => signalWorkflow(tx, { workflowId, signal: 'resume' }));
  await expect(relay([workflowId])).resolves.toBeUndefined();
});

test('a signal waits for a workflow that is claimed and not started yet, and is dropped if none starts', async () => {
  const [late, never] = [`test-${randomUUID()}`, `test-${randomUUID()}`];
  for (const workflowId of [late, never])
    await inTransaction((tx) => signalWorkflow(tx, { workflowId, signal: 'retryNow' }));
  const refusals = async (workflowId: string): Promise<number | undefined> =>
    (await pool.query('SELECT refusals FROM outbox WHERE workflow_id = $1', [workflowId])).rows[0]?.refusals;
  // Another process may dispatch it too.
  for (const workflowId of [late, never]) {
    await vi.waitFor(
      async () => {
        await outboxSource.dispatch(client);
        expect(await refusals(workflowId)).toBeGreaterThan(0);
      },
      { timeout: 10_000 },
    );
  }
  await startOnce(client, start(late));
  const due = 'UPDATE outbox SET available_at = now(), refusals = $2 WHERE workflow_id = $1';
  await pool.query(due, [late, 1]);
  await relay([late]);
  await expectSignal(late, 'retryNow');
  await client.workflow.getHandle(late).terminate();
  await pool.query(due, [never, 4]);
  await relay([never]);
  await expect(client.workflow.getHandle(never).describe()).rejects.toThrow(/not found/i);
});

test('a claimed row is left to its dispatcher until the lease ends, and keeps its place before later rows of its workflow', async () => {
  const workflowId = `test-${randomUUID()}`;
  // As a dispatcher leaves it that is killed before Temporal answers. No other dispatcher ever sees it due.
  const lease = `UPDATE outbox SET available_at = now() + $2::interval WHERE workflow_id = $1 AND kind = 'start'`;
  await inTransaction(async (tx) => {
    await startWorkflow(tx, start(workflowId));
    await signalWorkflow(tx, { workflowId, signal: 'pause' });
    await tx.query(lease, [workflowId, '5 minutes']);
  });
  await outboxSource.dispatch(client);
  const { rows } = await pool.query('SELECT kind FROM outbox WHERE workflow_id = $1 ORDER BY id', [workflowId]);
  expect(rows).toEqual([{ kind: 'start' }, { kind: 'signal' }]);
  await expect(client.workflow.getHandle(workflowId).describe()).rejects.toThrow(/not found/i);
  await pool.query(lease, [workflowId, '0 seconds']);
  await relay([workflowId]);
  expect((await client.workflow.getHandle(workflowId).describe()).status.name).toBe('RUNNING');
  await client.workflow.getHandle(workflowId).terminate();
});

test('after a round that failed, new rows wait for the next one', async () => {
  const name = `failing-${randomUUID()}`;
  const rounds: number[] = [];
  const dispatch = async () => {
    rounds.push(performance.now());
    throw new Error('Temporal is down');
  };
  const dispatcher = await startDispatcher(client, [{ name, dispatch }]);
  const arriving = setInterval(() => void pool.query(`SELECT pg_notify('postroom', $1)`, [name]), 20);
  try {
    await vi.waitFor(() => expect(rounds.length).toBeGreaterThanOrEqual(3), { timeout: 10_000 });
  } finally {
    clearInterval(arriving);
    await dispatcher.stop();
  }
  const [first = 0, second = 0, third = 0] = rounds;
  expect(second - first).toBeGreaterThan(900);
  expect(third - second).toBeGreaterThan(1_900);
});

/** An id that Temporal refuses. */
const refusedId = () => `test-${randomUUID()}-${'x'.repeat(1_000)}`;

test('a start that Temporal refuses is released, and delays neither the others nor the next round', async () => {
  const name = `refused-${randomUUID()}`;
  const [bad, good] = [refusedId(), `test-${randomUUID()}`];
  const rounds: { at: number; started: number }[] = [];
  const released: string[] = [];
  const dispatch = async () => {
    const started = await startAll(client, [start(bad), start(good)], async (rejected) => {
      released.push(...rejected.map(({ workflowId }) => workflowId));
    });
    rounds.push({ at: performance.now(), started });
    return { more: false };
  };
  const dispatcher = await startDispatcher(client, [{ name, dispatch }]);
  const arriving = setInterval(() => void pool.query(`SELECT pg_notify('postroom', $1)`, [name]), 20);
  try {
    await vi.waitFor(() => expect(rounds.length).toBeGreaterThanOrEqual(10), { timeout: 20_000 });
  } finally {
    clearInterval(arriving);
    await dispatcher.stop();
  }
  expect(rounds.every(({ started }) => started === 1)).toBe(true);
  expect(released).toEqual(rounds.map(() => bad));
  const handle = client.workflow.getHandle(good);
  expect((await handle.describe()).status.name).toBe('RUNNING');
  await handle.terminate();
});

test('while Temporal is down, starts are released and their round fails, also with one that was refused before', async () => {
  const bad = start(refusedId());
  const good = start(`test-${randomUUID()}`);
  // Without interceptors, it does not retry.
  const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [] });
  const released: unknown[] = [];
  const release = async (rejected: readonly unknown[]) => void released.push(...rejected);
  try {
    expect(await startAll(client, [bad], release)).toBe(0);
    await expect(startAll(new Client({ connection }), [bad, good], release)).rejects.toThrow();
  } finally {
    await connection.close();
  }
  expect(released).toEqual([bad, bad, good]);
});

test('a row is due at once, although columns round its time to milliseconds', async () => {
  for (let round = 0; round < 20; round++) {
    const workflowId = `test-${randomUUID()}`;
    await inTransaction(async (tx) => {
      await signalWorkflow(tx, { workflowId, signal: 'pause' });
      const due = `SELECT available_at <= ${NOW} AS "isDue" FROM outbox WHERE workflow_id = $1`;
      expect((await tx.query(due, [workflowId])).rows).toEqual([{ isDue: true }]);
      await tx.query('DELETE FROM outbox WHERE workflow_id = $1', [workflowId]);
    });
  }
});
