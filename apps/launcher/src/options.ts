import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { StartError } from '@postroom/embedded';

export const ROOT = join(import.meta.dirname, '../../..');

/** Ports of one running Postroom, relative to its base port. */
export interface Ports {
  gateway: number;
  temporal: number;
  temporalUi: number;
  inboxSmtp: number;
  inboxWeb: number;
  submission: number;
  postgres: number;
  bounceSmtp: number;
}

export interface Options {
  /** Holds everything persistent: database, workflows, keys, logs. An absolute path. */
  dataDir: string;
  portBase: number;
  /** Start empty: delete the contents of the data folder. */
  fresh: boolean;
  help: boolean;
}

const DEFAULT_PORT_BASE = 3400;

export const HELP = `npm start [-- options]

  --port-base N   the first of eight ports: gateway N, Temporal N+1 and its UI N+2, inbox N+3 (SMTP) and N+4 (web),
                  PostgreSQL N+5, SMTP submission N+6, bounces N+7; default ${DEFAULT_PORT_BASE}
  --data DIR      data folder, default .postroom
  --fresh         start empty: removes the data folder first

DATABASE_URL and TEMPORAL_ADDRESS point at a PostgreSQL and a Temporal of your own.
`;

/** Parses the command line. @throws StartError naming the invalid option. */
export function parseOptions(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Options {
  const { 'port-base': base, data, fresh, help } = parse(args);
  return { dataDir: dataFolder(data, env), portBase: portBase(base), fresh, help };
}

export function portsFrom(base: number): Ports {
  return {
    gateway: base,
    temporal: base + 1,
    temporalUi: base + 2,
    inboxSmtp: base + 3,
    inboxWeb: base + 4,
    postgres: base + 5,
    submission: base + 6,
    bounceSmtp: base + 7,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        'port-base': { type: 'string', default: String(DEFAULT_PORT_BASE) },
        data: { type: 'string', default: '' },
        fresh: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new StartError(`${(error as Error).message.split('. ')[0]}. See npm start -- --help.`);
  }
}

function portBase(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1024 || port > 65_528)
    throw new StartError(`--port-base must be from 1024 to 65528, not "${text}".`);
  const { gateway, temporalUi, inboxWeb } = portsFrom(port);
  const blocked = [gateway, temporalUi, inboxWeb].find((web) => BLOCKED_BY_BROWSERS.has(web));
  if (blocked !== undefined)
    throw new StartError(`Browsers block port ${blocked}, so --port-base can't be ${text}. Try ${port + 10}.`);
  return port;
}

/** Bad ports of the Fetch standard from 1024 on (https://fetch.spec.whatwg.org/#port-blocking); `fetch` in Node blocks them too. */
const BLOCKED_BY_BROWSERS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Resolves a relative path against the directory the user typed it in, which npm passes on. */
function dataFolder(given: string, env: NodeJS.ProcessEnv): string {
  if (given === '') return join(ROOT, '.postroom');
  const folder = resolve(env.INIT_CWD ?? process.cwd(), given);
  if (folder === resolve('/') || folder === homedir())
    throw new StartError(`--data must name a dedicated folder, not ${folder}.`);
  return folder;
}
