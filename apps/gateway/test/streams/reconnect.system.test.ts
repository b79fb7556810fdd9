import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { config, db, newId, pool } from '@postroom/platform';
import { type Api, startBreakableProxy, testApi } from '@postroom/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { addUnwatchedDomain } from '../../../../modules/domains/test/testing.ts';

/** An endpoint with a delivery that no dispatcher takes. */
async function delivery({ projectId }: Api): Promise<{ endpointId: string; deliveryId: string }> {
  const [endpointId, eventId, deliveryId] = [newId('whe'), newId('evt'), newId('dlv')];
  await pool.query(
    `WITH endpoint AS (
       INSERT INTO webhook_endpoints (id, project_id, url, events, secret, enabled, updated_at)
       VALUES ($1, $4, 'https://example.com/', '{none}', 'sealed', false, now())
     ), event AS (
       INSERT INTO events (id, project_id, type, data) VALUES ($2, $4, 'contact.created', '{}')
     )
     INSERT INTO deliveries (id, project_id, endpoint_id, event_id, state, attempt_count, next_attempt_at)
     VALUES ($3, $4, $1, $2, 'retried', 0, NULL)`,
    [endpointId, eventId, deliveryId, projectId],
  );
  return { endpointId, deliveryId };
}

test('every subscription catches up after its gateway was cut off from the database', { timeout: 90_000 }, async () => {
  const api = await testApi();
  const { projectId } = api;
  const { endpointId, deliveryId } = await delivery(api);
  const campaign = (await api.post('/v1/campaigns', { name: 'Before' })).body.data;
  const { id: domainId } = await addUnwatchedDomain(projectId, `${projectId.replace('_', '-').toLowerCase()}.example`);
  const { id: importId } = await db.import.create({
    data: { id: newId('imp'), projectId, status: 'running', onConflict: 'skip', dryRun: false, createFields: false },
  });
  const proxy = await startBreakableProxy(config.DATABASE_URL ?? '');
  const program = join(import.meta.dirname, 'reconnect.program.ts');
  const child = spawn(process.execPath, [program, projectId, endpointId, campaign.id, domainId, importId], {
    env: { ...process.env, DATABASE_URL: proxy.url, LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    proxy.close();
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const shows = (...lines: string[]) =>
    vi.waitFor(() => expect(printed.split('\n')).toEqual(expect.arrayContaining(lines)), 20_000);
  await shows('campaign Before', 'domain undefined', 'import 0');
  // Now every subscription listens: those of deliveries yield nothing at first, so an attempt shows that they do.
  const attempt = (number: number) =>
    pool.query(
      `INSERT INTO attempts (delivery_id, project_id, number, started_at, duration_ms, headers)
       VALUES ($1, $2, $3, now(), 5, '{}')`,
      [deliveryId, projectId, number],
    );
  await vi.waitFor(async () => {
    await pool.query(`SELECT pg_notify('postroom', $1)`, [`attempted ${projectId} ${deliveryId}`]);
    expect(printed).toContain(`delivery ${deliveryId}\n`);
    expect(printed).toContain(`delivery of endpoint ${deliveryId}\n`);
  }, 20_000);
  await new Promise((resolve) => setTimeout(resolve, 1_000));

  proxy.break();
  printed = '';
  const checkedAt = new Date();
  await Promise.all([
    db.campaign.update({ where: { id: campaign.id }, data: { name: 'After' } }),
    db.domain.update({ where: { id: domainId }, data: { checkedAt } }),
    db.import.update({ where: { id: importId }, data: { rows: 7 } }),
    attempt(1),
  ]);
  proxy.restore();
  await shows(
    'campaign After',
    `domain ${checkedAt.toISOString()}`,
    'import 7',
    `attempt ${deliveryId}`,
    `delivery ${deliveryId}`,
    `delivery of endpoint ${deliveryId}`,
  );
});
