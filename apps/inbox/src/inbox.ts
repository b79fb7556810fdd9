import type { Service } from '@postroom/platform';
import { Intake } from './intake.ts';
import { Live } from './subscription.ts';
import { Readers } from './readers.ts';
import { Reporter } from './reporter.ts';
import { listenSmtp } from './smtp.ts';
import { listenWeb } from './web.ts';

export interface Inbox extends Service {
  smtpPort: number;
  webUrl: string;
}

/**
 * Starts the inbox of a development system: it takes every mail in place of the world, keeps it and shows it. Port 0
 * takes a free one.
 */
export async function startInbox(options: {
  host: string;
  smtpPort: number;
  webPort: number;
  /** The gateway that they ask; that of `PUBLIC_URL` unless given. */
  gatewayUrl?: string;
  /** How long after their mail simulated readers come, in milliseconds. */
  readAfterMs?: number;
}): Promise<Inbox> {
  const live = new Live();
  const reporter = new Reporter();
  const intake = new Intake((received) => {
    live.changed({ received });
    reporter.wake();
  });
  const readers = new Readers(options.gatewayUrl, options.readAfterMs);
  const smtp = await listenSmtp(options.host, options.smtpPort, intake, readers);
  const web = await listenWeb(options.host, options.webPort, live);
  reporter.wake(); // what a killed one left unreported
  const stop = async () => {
    readers.stop();
    await smtp.stop();
    await reporter.stop();
    live.stop();
    await web.stop();
  };
  return { smtpPort: smtp.port, webUrl: `http://${options.host}:${web.port}`, stop };
}
