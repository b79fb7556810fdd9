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
  /** Starts the worker with this mail server, and waits until it is ready. */
  startWorker: (smtpUrl?: string) => Promise<void>;
  /** Sends the worker a message and returns its reply. */
  ask: (work: string | object) => Promise<unknown>;
  /** Injects a fault at the next statement that matches; the returned function tells whether that has happened. */
  breakOnce: (text: RegExp, fault: DatabaseFault) => () => boolean;
  /** Sends the worker this work, kills it (SIGKILL) at the first matching statement, starts another one, and returns the statement. */
  killAt: (text: RegExp, fault: 'blocked' | 'reply-blocked', work: string | object) => Promise<string>;
}

/** Rejects one address, defers everything at another one's first attempt, and accepts all others. */
export const rejectOrDefer: SinkRule = (to, tries) => {
  if (to.includes('refused')) return { code: 554, message: '5.7.1 Refused by policy' };
  if (to.includes('later') && tries === 0) return { code: 421, message: '4.3.2 Going down' };
  return undefined;
};

/**
 * Sets up all of this for a test file, and tears it down afterwards. `program` is the worker's entry point: it sends one message
 * when it is ready, and one in reply to each message.
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
    const { text: stopped } = await faults.proxy.blocked();
    await faults.worker.kill();
    await startWorker();
    return stopped;
  };
  const faults = { startWorker, ask, breakOnce, killAt } as MailFaults;
  beforeAll(async () => {
    faults.sink = await startSmtpSink(rejectOrDefer);
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
