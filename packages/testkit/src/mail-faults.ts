import { once } from 'node:events';
import { afterAll, beforeAll } from 'vitest';
import { type DatabaseFault, type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts';
import { killableWorker, type KillableWorker } from './killable-worker.ts';
import { type SinkRule, type SmtpSink, startSmtpSink } from './smtp-sink.ts';

/** A mail worker and everything a test can break: the worker, its database connection, and the mail server. */
export interface MailFaults {
  sink: SmtpSink;
  proxy: DatabaseProxy;
  worker: KillableWorker;
  /** Starts the worker, for this mail server, and waits until it says that it is ready. */
  startWorker: (smtpUrl?: string) => Promise<void>;
  /** Sends the worker a message and returns its reply. */
  ask: (work: string | object) => Promise<unknown>;
  /** Breaks the first statement from now on that looks like this; what it returns tells whether that has come. */
  breakOnce: (text: RegExp, fault: DatabaseFault) => () => boolean;
  /** kill -9 of the worker where it waits at such a statement of this work, which is returned; another one is ready then. */
  killAt: (text: RegExp, fault: 'kept' | 'held', work: string | object) => Promise<string>;
}

/** One address is refused, and one makes the server take nothing for a moment; all others are taken. */
export const refusedOrLater: SinkRule = (to, tries) => {
  if (to.includes('refused')) return { code: 554, message: '5.7.1 Refused by policy' };
  if (to.includes('later') && tries === 0) return { code: 421, message: '4.3.2 Going down' };
  return undefined;
};

/**
 * Sets all of that up for a test file, and tears it down afterwards. `program` is the worker's entry; it reports
 * when it is ready and answers each message with one.
 */
export function mailFaults(program: string): MailFaults {
  const startWorker = async (smtpUrl = faults.sink.url) => {
    faults.worker.start({ DATABASE_URL: faults.proxy.url, SMTP_URL: smtpUrl, SMTP_CONNECTIONS: '2' });
    await answer();
  };
  const answer = async (): Promise<unknown> => (await once(faults.worker.process!, 'message'))[0];
  const ask = (work: string | object) => {
    faults.worker.process?.send(work);
    return answer();
  };
  const breakOnce: MailFaults['breakOnce'] = (text, fault) => {
    let isBroken = false;
    faults.proxy.watch((statement) => {
      if (isBroken || !text.test(statement.text)) return undefined;
      isBroken = true;
      return fault;
    });
    return () => isBroken;
  };
  const killAt: MailFaults['killAt'] = async (text, fault, work) => {
    breakOnce(text, fault);
    faults.worker.process?.send(work);
    const { text: stopped } = await faults.proxy.holding();
    await faults.worker.kill();
    await startWorker();
    return stopped;
  };
  const faults = { startWorker, ask, breakOnce, killAt } as MailFaults;
  beforeAll(async () => {
    faults.sink = await startSmtpSink(refusedOrLater);
    faults.worker = await killableWorker(program);
    faults.proxy = await startDatabaseProxy(faults.worker.databaseUrl);
    await startWorker();
  }, 120_000);
  afterAll(async () => {
    await faults.worker.close();
    await faults.proxy.close();
    await faults.sink.close();
  });
  return faults;
}
