import { type SinkRule, type SmtpSink, startSmtpSink } from './smtp-sink.ts';
import { startSystem, type System } from './system.ts';

let shared: Promise<{ system: System; sink: SmtpSink }> | undefined;

/** Who owns that installation, but is no member of a test's project. */
export const OWNER = { email: 'owner@people.example', password: 'correct horse battery' };

async function start(): Promise<{ system: System; sink: SmtpSink }> {
  const sink = await startSmtpSink();
  const env = { POSTROOM_OWNER_EMAIL: OWNER.email, POSTROOM_OWNER_PASSWORD: OWNER.password };
  return { system: await startSystem({ smtpUrl: sink.url, env }), sink };
}

/**
 * A system with a running worker, and the mail server that it sends to, for the mail tests of a process to share, because
 * starting one takes seconds; it stops with the process. A test file calls this once, before its tests, and finds the
 * sink empty. It uses its own projects, and leaves no mail under way. Files that need other settings, or the whole
 * database, start their own system.
 */
export async function mailSystem(rule: SinkRule = () => undefined): Promise<{ system: System; sink: SmtpSink }> {
  shared ??= start();
  const { system, sink } = await shared;
  sink.reset(rule);
  await system.startWorker();
  return { system, sink };
}
