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
 * Starts the inbox of a development system: it accepts, stores and shows every mail instead of delivering it. Port 0
 * picks a free port.
 */
export async function startInbox(options: {
  host: string;
  smtpPort: number;
  webPort: number;
  /** The gateway that simulated readers call; defaults to `PUBLIC_URL`. */
  gatewayUrl?: string;
  /** The delay of simulated readers, in milliseconds. */
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
  reporter.wake(); // reports left by a killed process
  const stop = async () => {
    readers.stop();
    await smtp.stop();
    await reporter.stop();
    live.stop();
    await web.stop();
  };
  return { smtpPort: smtp.port, webUrl: `http://${options.host}:${web.port}`, stop };
}
