import { keyFile } from './data-folder.ts';
import { HOST } from '@postroom/embedded';
import type { Ports } from './options.ts';

/** Addresses of the services that the programs in apps/ depend on. */
export interface Parts {
  databaseUrl: string;
  temporalAddress: string;
  temporalUiUrl: string | undefined;
}

/** The environment of the programs in apps/. User settings take precedence unless the launcher must set a value. */
export function appEnvironment(parts: Parts, ports: Ports, dataDir: string): NodeJS.ProcessEnv {
  const { env } = process;
  return {
    ...env,
    NODE_ENV: env.NODE_ENV ?? 'development',
    LOG_LEVEL: env.LOG_LEVEL ?? 'info',
    DATABASE_URL: parts.databaseUrl,
    TEMPORAL_ADDRESS: parts.temporalAddress,
    ...(parts.temporalUiUrl !== undefined && { TEMPORAL_UI_URL: parts.temporalUiUrl }),
    GATEWAY_PORT: String(ports.gateway),
    SUBMISSION_PORT: String(ports.submission),
    INBOX_SMTP_PORT: String(ports.inboxSmtp),
    INBOX_WEB_PORT: String(ports.inboxWeb),
    BOUNCE_SMTP_PORT: String(ports.bounceSmtp),
    // With an external SMTP server, mail does not reach the inbox.
    ...(env.SMTP_URL === undefined && { INBOX_URL: env.INBOX_URL ?? `http://${HOST}:${ports.inboxWeb}` }),
    SMTP_URL: env.SMTP_URL ?? `smtp://${HOST}:${ports.inboxSmtp}`,
    PUBLIC_URL: env.PUBLIC_URL ?? `http://${HOST}:${ports.gateway}`,
    ...(env.POSTROOM_SECRET_KEY === undefined && { POSTROOM_KEY_FILE: env.POSTROOM_KEY_FILE ?? keyFile(dataDir) }),
  };
}
