import { isRelay, type SettingName, type Settings } from './settings.ts';
import type { SettingProblem } from './setting-files.ts';

/** A setting without which a program would run, but not do its work. */
interface Requirement {
  /** One of these must be set. */
  settings: readonly [SettingName, ...SettingName[]];
  /** Completes "is required: …". */
  why: string;
  /** Only needed in production: elsewhere there is a default. */
  inProduction?: true;
  /** Only needed with some settings. `text` names them on the page of settings. */
  when?: { text: string; holds: (settings: Settings) => boolean };
}

const DATABASE: Requirement = {
  settings: ['DATABASE_URL'],
  why: 'the PostgreSQL database, such as postgresql://user:password@host:5432/postroom',
};
const DIRECT_DATABASE: Requirement = { ...DATABASE, settings: ['DATABASE_URL', 'DATABASE_LISTEN_URL'] };
const SECRET_KEY: Requirement = {
  settings: ['POSTROOM_SECRET_KEY', 'POSTROOM_KEY_FILE'],
  why: '32 bytes in base64 that encrypt secrets and sign links, such as from: openssl rand -base64 32',
};
const CELLS_KEY: Requirement = {
  ...SECRET_KEY,
  when: { text: 'with `CELL_GATEWAYS`', holds: ({ CELL_GATEWAYS }) => CELL_GATEWAYS !== undefined },
};
const PUBLIC_URL: Requirement = {
  settings: ['PUBLIC_URL'],
  why: 'links in mail begin with it; the https:// URL at which people reach the gateway',
  inProduction: true,
};
const SMTP_URL: Requirement = {
  settings: ['SMTP_URL'],
  why: 'the relay, such as smtp://user:password@host:587, or "none" if only projects with their own mail provider send',
  inProduction: true,
};
const SYSTEM_MAIL_FROM: Requirement = {
  settings: ['SYSTEM_MAIL_FROM'],
  why: "the From address of Postroom's own mail, such as Postroom <postroom@example.com>",
  inProduction: true,
  when: { text: 'unless `SMTP_URL` is `none`', holds: ({ SMTP_URL }) => isRelay(SMTP_URL) },
};
const OWNER: readonly Requirement[] = [
  { settings: ['POSTROOM_OWNER_EMAIL'], why: 'the email address of the first owner' },
  { settings: ['POSTROOM_OWNER_PASSWORD'], why: 'the password of the first owner, at least 10 characters' },
];
const SUBMISSION_CERTIFICATE: Requirement = {
  settings: ['SUBMISSION_TLS_CERT'],
  why: 'the PEM file of the certificate that clients verify',
  inProduction: true,
};

/** What each program needs to do its work. */
export const REQUIREMENTS = {
  gateway: [DATABASE, SECRET_KEY, PUBLIC_URL, SMTP_URL, SYSTEM_MAIL_FROM],
  worker: [DATABASE, SECRET_KEY, PUBLIC_URL, SMTP_URL, SYSTEM_MAIL_FROM],
  submission: [DATABASE, CELLS_KEY, SUBMISSION_CERTIFICATE],
  bounces: [DATABASE, SECRET_KEY],
  inbox: [DATABASE],
  migrate: [DIRECT_DATABASE],
  bootstrap: [DATABASE, SECRET_KEY, ...OWNER],
  'rotate-encryption-key': [DATABASE, SECRET_KEY],
  mcp: [],
  journeys: [],
} as const satisfies Record<string, readonly Requirement[]>;

export type Program = keyof typeof REQUIREMENTS;
export const PROGRAM_NAMES = Object.keys(REQUIREMENTS) as readonly Program[];
export const isProgram = (name: string): name is Program => Object.hasOwn(REQUIREMENTS, name);

/** The program that this process is, once it has checked its settings. */
let running: Program | undefined;

/** What PostgreSQL shows of this process's connections (`application_name`). */
export const applicationName = () => (running === undefined ? 'postroom' : `postroom-${running}`);

export function setCurrentProgram(program: Program): void {
  running = program;
}

/** The settings that a program lacks. `given` holds the names that are set. */
export function missingSettings(program: Program, settings: Settings, given: object): SettingProblem[] {
  const production = settings.NODE_ENV === 'production';
  const required: readonly Requirement[] = REQUIREMENTS[program];
  return required
    .filter(({ inProduction, when }) => (production || inProduction !== true) && when?.holds(settings) !== false)
    .filter(({ settings: names }) => !names.some((name) => name in given))
    .map(({ settings: names, why }) => ({ setting: names.join(' or '), problem: `is required: ${why}` }));
}
