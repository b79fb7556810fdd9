import { config, logger } from '@postroom/platform';
import { createTransport, type Transporter } from 'nodemailer';

let relay: { url: string; transport: Transporter } | undefined;

/** Whether there is a mail server to send mail of Postroom's own by. */
export const canSendSystemMail = () => config.SMTP_URL !== undefined;

/**
 * Sends mail of Postroom's own by the mail server of the installation (`SMTP_URL`; in development the inbox). Without one it says so in
 * the log, and the caller goes on.
 * @throws Error when the server does not take it.
 */
export async function sendSystemMail(mail: { to: string; subject: string; text: string }): Promise<void> {
  const { SMTP_URL: url } = config;
  if (url === undefined) {
    logger.warn({ subject: mail.subject }, 'SMTP_URL is not set, so a mail of our own was not sent');
    return;
  }
  if (relay?.url !== url) relay = { url, transport: createTransport(transportOptions(url)) };
  await relay.transport.sendMail({ from: config.SYSTEM_MAIL_FROM, ...mail });
}

/** `?tls=` means what it means for all other mail: `required` insists on STARTTLS, `insecure` takes any certificate. */
function transportOptions(url: string) {
  const server = new URL(url);
  const tls = server.searchParams.get('tls');
  server.searchParams.delete('tls');
  return {
    url: server.href,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    ...(tls === 'required' ? { requireTLS: true } : {}),
    ...(tls === 'insecure' ? { tls: { rejectUnauthorized: false } } : {}),
  };
}
