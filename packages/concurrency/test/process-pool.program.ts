// Calls functions that take long, and reports the processes that run them.
import { type IsolatedFunction, runIsolated } from '../src/process-pool.ts';

const MODULE = `data:text/javascript,${encodeURIComponent(`
  export const pid = () => process.pid;
  export const burn = (ms) => { for (const end = Date.now() + ms; Date.now() < end; ); return 'finished'; };
`)}`;
const fn = (name: string): IsolatedFunction => ({ module: MODULE, name, timeLimitMs: 60_000 });

const send = (message: unknown) => process.send?.(message);
process.on('SIGINT', () => send('interrupted'));
process.on('message', (ms: number) => {
  void runIsolated(fn('burn'), 'a', ms).then(send);
  send('called');
});
send(await Promise.all(['a', 'b', 'c'].map((caller) => runIsolated(fn('pid'), caller))));
