import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker, Runtime, DefaultLogger } from '@temporalio/worker';
import { workflowBundle } from '../apps/worker/src/bundle.ts';
import { readFileSync, readdirSync } from 'node:fs';
Runtime.install({ logger: new DefaultLogger('ERROR') });
const port = process.env.TEMPORAL_ADDRESS.split(':')[1];
const tp = readdirSync('/proc')
  .filter((d) => /^\d+$/.test(d))
  .find((d) => {
    try {
      const c = readFileSync(`/proc/${d}/cmdline`, 'utf8');
      return c.includes('start-dev') && c.split('\0')[0].endsWith('temporal') && c.includes(port);
    } catch {
      return false;
    }
  });
const cpu = (p) => {
  const f = readFileSync(`/proc/${p}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');
  return (+f[11] + +f[12]) * 10;
};
const native = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
const worker = await Worker.create({
  connection: native,
  taskQueue: 'eager2',
  workflowBundle: await workflowBundle(),
  activities: { attemptBatch: async () => ({ acknowledged: 0, retried: 0, returned: 0 }) },
});
const running = worker.run();
const js = new Client({ connection: await Connection.connect({ address: process.env.TEMPORAL_ADDRESS }) });
const nat = new Client({ connection: native });
const N = 150;
for (const [name, client, eager] of [
  ['warm', js, false],
  ['grpc-js', js, false],
  ['native', nat, false],
  ['native eager', nat, true],
  ['grpc-js', js, false],
  ['native', nat, false],
  ['native eager', nat, true],
]) {
  const a = cpu(tp),
    b = cpu(process.pid),
    t = Date.now();
  let i = 0;
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      while (i++ < N) {
        await client.workflow.execute('deliverBatch', {
          taskQueue: 'eager2',
          workflowId: 'b' + Math.random(),
          args: [['x']],
          requestEagerStart: eager,
        });
      }
    }),
  );
  console.log(
    name,
    'temporal',
    ((cpu(tp) - a) / N).toFixed(1),
    'ms, worker',
    ((cpu(process.pid) - b) / N).toFixed(1),
    'ms each, wall',
    ((Date.now() - t) / N).toFixed(0),
  );
}
worker.shutdown();
await running;
await native.close();
process.exit();
