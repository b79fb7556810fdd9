import { join } from 'node:path';
import { config, newId } from '@postroom/platform';
import { freePorts, startSystem, type System } from '@postroom/testkit';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll } from 'vitest';
import { runKillable } from './run-killable.ts';

export const OWNER = { POSTROOM_OWNER_EMAIL: 'owner@people.example', POSTROOM_OWNER_PASSWORD: 'correct horse battery' };

/** Two cells with one public host, which leads to `home`. */
export interface TwoCells {
  home: System;
  eu: System;
  /** The settings of the cell `home`, for the mover. */
  settings: Record<string, string>;
  /** Runs `postroom move-project` to `eu`, and kills it when it prints `killAt`. @returns what it printed, and its status. */
  move: (
    projectId: string,
    options?: { killAt?: string | undefined; env?: Record<string, string> },
  ) => Promise<{ printed: string; status: number | null }>;
  /** Signs the owner in to `home`. @returns the cookie. */
  signIn: (email?: string, password?: string) => Promise<string>;
}

/** Starts two cells before the tests of a file. @param smtpUrl where both send. */
export function useTwoCells(smtpUrl: () => string | Promise<string>): TwoCells {
  const cells = {} as TwoCells;
  beforeAll(async () => {
    const url = await smtpUrl();
    const [homePort, euPort] = (await freePorts(2)).map(String);
    const TEMPORAL_NAMESPACE = `eu-${newId('req')}`;
    await registerNamespace(TEMPORAL_NAMESPACE);
    const settings = {
      CELL: 'home',
      CELL_GATEWAYS: `home=http://127.0.0.1:${homePort}, eu=http://127.0.0.1:${euPort}`,
      PUBLIC_URL: `http://127.0.0.1:${homePort}`,
      TRUSTED_PROXIES: '127.0.0.1',
      SYSTEM_MAIL_FROM: 'Postroom <postroom@example.com>',
    };
    const home = await startSystem({ smtpUrl: url, env: { ...settings, ...OWNER, GATEWAY_PORT: homePort! } });
    const eu = await startSystem({
      smtpUrl: url,
      env: { ...settings, CELL: 'eu', TEMPORAL_NAMESPACE, GATEWAY_PORT: euPort! },
    });
    Object.assign(cells, { home, eu, settings });
    await Promise.all([home.startWorker(), eu.startWorker()]);
  }, 180_000);
  afterAll(() => Promise.all([cells.home.stop(), cells.eu.stop()]));

  cells.move = async (projectId, { killAt, env: more = {} } = {}) => {
    const program = join(import.meta.dirname, '../src/move/main.ts');
    const url = databaseOf(cells.home);
    const env = {
      ...process.env,
      ...cells.settings,
      DATABASE_URL: url,
      TARGET_DATABASE_URL: databaseOf(cells.eu),
      TEMPORAL_TASK_QUEUE: new URL(url).pathname.slice(1),
      ...more,
    };
    return runKillable(program, [projectId, '--to', 'eu'], env, killAt);
  };
  cells.signIn = async (email = OWNER.POSTROOM_OWNER_EMAIL, password = OWNER.POSTROOM_OWNER_PASSWORD) => {
    const { headers } = await fetch(`${cells.home.url}/app/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: cells.settings.PUBLIC_URL! },
      body: JSON.stringify({ email, password }),
    });
    return headers
      .getSetCookie()
      .map((each) => each.split(';', 1)[0])
      .join('; ');
  };
  return cells;
}

async function registerNamespace(namespace: string): Promise<void> {
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 },
  } as never);
  await connection.close();
}

export const databaseOf = ({ pool }: System): string =>
  (pool as unknown as { options: { connectionString: string } }).options.connectionString;

export const quotedPrintable = (text: string): string =>
  text.replaceAll('=\r\n', '').replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
