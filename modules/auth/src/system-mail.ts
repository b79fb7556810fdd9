import { assertNoTransaction, config, logger } from '@postroom/platform';
import { isLoopback, parseRelayUrl } from '@postroom/smtp/relay-url';
import { createTransport, type Transporter } from 'nodemailer';

let relay: { url: string; transport: Transporter } | undefined;

/** Whether a mail server for system mail is configured. */
export const canSendSystemMail = () => config.SMTP_URL !== undefined;

export interface SystemMail {
  to: string;
  subject: string;
  text: string;
  /** The local part of its Message-ID, where each attempt should have the same one; random if omitted. */
  id?: string;
}

/**
 * Sends system mail through the installation's mail server (`SMTP_URL`; the inbox in development). Without one it
 * logs a warning and returns.
 * @throws Error if the server rejects the mail.
 */
export async function sendSystemMail({ id, ...mail }: SystemMail): Promise<void> {
  assertNoTransaction('System mail was sent');
  const { SMTP_URL: url, SYSTEM_MAIL_FROM: from } = config;
  if (url === undefined) {
    logger.warn({ subject: mail.subject }, 'system mail not sent: SMTP_URL is not set');
    return;
  }
  if (relay?.url !== url) relay = { url, transport: createTransport(transportOptions(url)) };
  const messageId = id === undefined ? {} : { messageId: `<${id}@${new URL(config.PUBLIC_URL).hostname}>` };
  await relay.transport.sendMail({ from, ...messageId, ...mail });
}

/** Reads SMTP_URL as all other mail does: the same port, the same TLS, and no credentials in the clear. */
export function transportOptions(url: string) {
  const { host, port, implicitTls, requireTls, insecure, credentials, clientName } = parseRelayUrl(
    url,
    config.PUBLIC_URL,
  );
  const auth = credentials !== undefined && 'password' in credentials ? credentials : undefined;
  return {
    host,
    port,
    name: clientName,
    secure: implicitTls,
    requireTLS: requireTls || (auth !== undefined && !insecure && !isLoopback(host)),
    ...(auth === undefined ? {} : { auth: { user: auth.user, pass: auth.password } }),
    ...(insecure ? { tls: { rejectUnauthorized: false } } : {}),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
  };
}
