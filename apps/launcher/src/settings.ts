import { join } from 'node:path';
import { keyFile } from './data-folder.ts';
import { HOST, StartError } from '@postroom/embedded';
import { parseConfig, type Program, readSettingFiles } from '@postroom/settings';
import type { Ports } from './options.ts';

/** Addresses of the services that the programs in apps/ depend on. */
export interface Parts {
  databaseUrl: string;
  temporalAddress: string;
  temporalUiUrl: string | undefined;
}

/**
 * The environment of the programs in apps/. User settings take precedence unless the launcher must set a value. In production
 * it has no public URL and no relay that is not the user's: what npm start uses instead is of no use to recipients.
 */
export function appEnvironment(
  parts: Parts,
  ports: Ports,
  dataDir: string,
  env: NodeJS.ProcessEnv = userSettings(),
): NodeJS.ProcessEnv {
  const development = env.NODE_ENV !== 'production';
  return {
    ...env,
    NODE_ENV: env.NODE_ENV ?? 'development',
    DATABASE_URL: parts.databaseUrl,
    TEMPORAL_ADDRESS: parts.temporalAddress,
    ...(parts.temporalUiUrl !== undefined && { TEMPORAL_UI_URL: parts.temporalUiUrl }),
    GATEWAY_PORT: String(ports.gateway),
    SUBMISSION_PORT: String(ports.submission),
    INBOX_SMTP_PORT: String(ports.inboxSmtp),
    INBOX_WEB_PORT: String(ports.inboxWeb),
    BOUNCE_SMTP_PORT: String(ports.bounceSmtp),
    IN_FLIGHT_JOURNAL: env.IN_FLIGHT_JOURNAL ?? join(dataDir, 'in-flight'),
    ADMIN_PORT: '', // one port can't serve several programs
    // With an external SMTP server, mail does not reach the inbox.
    ...(development &&
      env.SMTP_URL === undefined && {
        INBOX_URL: env.INBOX_URL ?? `http://${HOST}:${ports.inboxWeb}`,
        SMTP_URL: `smtp://${HOST}:${ports.inboxSmtp}`,
      }),
    ...(development && { PUBLIC_URL: env.PUBLIC_URL ?? `http://${HOST}:${ports.gateway}` }),
    ...(env.POSTROOM_SECRET_KEY === undefined && { POSTROOM_KEY_FILE: env.POSTROOM_KEY_FILE ?? keyFile(dataDir) }),
  };
}

/**
 * The user's settings, with secrets from files.
 * @throws StartError naming a file that can't be read.
 */
export function userSettings(): NodeJS.ProcessEnv {
  const { env, problems } = readSettingFiles(process.env);
  const [first] = problems;
  if (first !== undefined) throw new StartError(`${first.setting} ${first.problem}.`);
  return env;
}

/** @throws StartError if one of the programs would refuse these settings. */
export function checkAppSettings(env: NodeJS.ProcessEnv, programs: readonly Program[]): void {
  for (const program of programs) {
    try {
      parseConfig(env, program);
    } catch (error) {
      throw new StartError((error as Error).message);
    }
  }
}
