import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What scripts need to use the running system: `dev.json` in the data folder. */
export interface DevFile {
  url: string;
  graphqlUrl: string;
  /** NULL when TEMPORAL_ADDRESS names an external Temporal and TEMPORAL_UI_URL is not set. */
  temporalUiUrl: string | null;
  inboxUrl: string;
  smtpPort: number;
  /** The SMTP submission port; NULL in production without a certificate. */
  submissionPort: number | null;
  databaseUrl: string;
  projects: { id: string; name: string }[];
  /**
   * `full` and `sending` belong to the first project; `all` has full scope in every project. The database stores
   * only hashes.
   */
  keys: Partial<Record<KeyName, string>>;
  /** Initial dashboard credentials of the owner we created; NULL if a user already existed. */
  owner: { email: string; password: string } | null;
  /** The launcher's pid; NULL once it has stopped. */
  pid: number | null;
}

export type KeyName = 'full' | 'sending' | 'all';

const path = (dataDir: string) => join(dataDir, 'dev.json');

export function readDevFile(dataDir: string): DevFile | undefined {
  try {
    return JSON.parse(readFileSync(path(dataDir), 'utf8')) as DevFile;
  } catch {
    return undefined;
  }
}

/** Replaced atomically, so a reader never sees a partial file. */
export function writeDevFile(dataDir: string, content: DevFile): void {
  const unfinished = `${path(dataDir)}.new`;
  writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, path(dataDir));
}

/** Clears the pid. Projects and keys stay for the next start. */
export function forgetProcess(dataDir: string): void {
  const content = readDevFile(dataDir);
  if (content !== undefined) writeDevFile(dataDir, { ...content, pid: null });
}
