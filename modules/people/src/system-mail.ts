import { config, logger } from '@postroom/platform';
import { createTransport, type Transporter } from 'nodemailer';

let relay: { url: string; transport: Transporter } | undefined;

/** Sends mail of Postroom's own over the configured relay. Without one it says so in the log, and the caller goes on. */
export async function sendSystemMail(mail: { to: string; subject: string; text: string }): Promise<void> {
  const { SMTP_URL: url } = config;
  if (url === undefined) {
    logger.warn({ subject: mail.subject }, 'SMTP_URL is not set, so a mail of our own was not sent');
    return;
  }
  if (relay?.url !== url) relay = { url, transport: createTransport(url) };
  await relay.transport.sendMail({ from: config.SYSTEM_MAIL_FROM, ...mail });
}
