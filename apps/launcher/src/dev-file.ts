import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What scripts need to find and use the running system: `dev.json` in the data folder. */
export interface DevFile {
  url: string;
  graphqlUrl: string;
  /** NULL when a Temporal of one's own is used and TEMPORAL_UI_URL does not say where its UI is. */
  temporalUiUrl: string | null;
  inboxUrl: string;
  smtpPort: number;
  /** Where programs hand over mail by SMTP; NULL in production without a certificate. */
  submissionPort: number | null;
  databaseUrl: string;
  projects: { id: string; name: string }[];
  /** `full` and `sending` of the first project, and `all`, full in every project. Only their hashes are in the database. */
  keys: Partial<Record<KeyName, string>>;
  /** Who was made to sign in to the dashboard with, as they were then; NULL when somebody had an account already. */
  owner: { email: string; password: string } | null;
  /** Of the launcher; NULL once it has ended. */
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

/** Replaced in one step, so that a reader never sees half of it. */
export function writeDevFile(dataDir: string, content: DevFile): void {
  const unfinished = `${path(dataDir)}.new`;
  writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, path(dataDir));
}

/** Says in the file that nothing runs any more; projects and keys stay for the next start. */
export function forgetProcess(dataDir: string): void {
  const content = readDevFile(dataDir);
  if (content !== undefined) writeDevFile(dataDir, { ...content, pid: null });
}
