import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { StartError } from './errors.ts';
import { startGuarded } from './programs.ts';

/** The newest version that `go install` can build; later ones have `replace` directives. */
const TEMPORAL_VERSION = '1.5.1';

/** SHA-256 of that version's official archives. */
const CHECKSUMS: Record<string, string> = {
  darwin_amd64: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  darwin_arm64: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
  linux_amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  linux_arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
};
const RELEASES = 'https://github.com/temporalio/cli/releases/download';
/** A closed network often drops packets instead of refusing the connection. */
const CONNECT_TIMEOUT_MS = 15_000;
const STALLED_TIMEOUT_MS = 30_000;
const PROGRESS_MS = 5000;
/** Leftovers of killed starts in the cache are removed at this age. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/** Per-user cache of the downloaded or built binary, shared by every checkout. */
function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'postroom/bin');
}

/**
 * Finds the `temporal` binary on the PATH, in the data folder or in the user's cache. Otherwise downloads it into
 * the cache, or builds it with Go if the download fails.
 * @throws StartError saying why each source failed.
 */
export async function temporalBinary(
  dataDir: string | undefined,
  say: (line: string) => void,
  aborted: AbortSignal = new AbortController().signal,
): Promise<string> {
  const caches = [...(dataDir === undefined ? [] : [join(dataDir, 'bin')]), cacheFolder()];
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...caches];
  const found = folders.map((folder) => join(folder, 'temporal')).find((file) => existsSync(file) && works(file));
  if (found !== undefined) return found;
  const cache = caches.findLast(canBeMade);
  if (cache === undefined)
    throw new StartError(`Temporal is missing, and its cache folder ${caches.at(-1)} can't be created.`);
  return fetchInto(cache, say, aborted);
}

/** A system user may have no home folder. */
function canBeMade(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

async function fetchInto(cache: string, say: (line: string) => void, aborted: AbortSignal): Promise<string> {
  removeAbandoned(cache);
  const reasons: string[] = [];
  for (const way of [download, build]) {
    const folder = mkdtempSync(join(cache, 'new-'));
    try {
      const binary = await way(folder, say, aborted);
      if (!works(binary)) throw new Error('it does not run here');
      renameSync(binary, join(cache, 'temporal'));
      return join(cache, 'temporal');
    } catch (error) {
      aborted.throwIfAborted();
      reasons.push((error as Error).message);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new StartError(
    `Temporal is missing: ${reasons.join(', and ')}. Install its CLI (https://docs.temporal.io/cli) or Go 1.25, or set TEMPORAL_ADDRESS.`,
  );
}

function removeAbandoned(cache: string): void {
  const folders = readdirSync(cache)
    .filter((name) => name.startsWith('new-'))
    .map((name) => join(cache, name));
  const old = folders.filter((folder) => Date.now() - statSync(folder).mtimeMs > ABANDONED_MS);
  for (const folder of old) rmSync(folder, { recursive: true, force: true });
}

function works(path: string): boolean {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return status === 0 && stdout.startsWith('temporal version');
}

async function download(folder: string, say: (line: string) => void, aborted: AbortSignal): Promise<string> {
  const system = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const checksum = CHECKSUMS[system];
  if (checksum === undefined) throw new Error(`there is no release for ${system}`);
  const url = `${RELEASES}/v${TEMPORAL_VERSION}/temporal_cli_${TEMPORAL_VERSION}_${system}.tar.gz`;
  say(`Downloading Temporal ${TEMPORAL_VERSION} (first run only) …`);
  const archive = await fetchWithProgress(url, say, aborted).catch((error: Error) => {
    throw new Error(`the download failed (${((error.cause as Error | undefined) ?? error).message})`);
  });
  if (createHash('sha256').update(archive).digest('hex') !== checksum)
    throw new Error('the download has the wrong checksum');
  writeFileSync(join(folder, 'temporal.tar.gz'), archive);
  const { status } = spawnSync('tar', ['-xzf', 'temporal.tar.gz', 'temporal'], { cwd: folder });
  if (status !== 0) throw new Error('tar could not unpack the download');
  return join(folder, 'temporal');
}

async function fetchWithProgress(url: string, say: (line: string) => void, aborted: AbortSignal): Promise<Buffer> {
  const stalled = new AbortController();
  let timer = setTimeout(() => stalled.abort(new Error('no response')), CONNECT_TIMEOUT_MS);
  try {
    const reply = await fetch(url, { signal: AbortSignal.any([stalled.signal, aborted]) });
    if (!reply.ok || reply.body === null) throw new Error(`HTTP ${reply.status}`);
    const total = Number(reply.headers.get('content-length'));
    const chunks: Uint8Array[] = [];
    let [received, said] = [0, Date.now()];
    for await (const chunk of reply.body) {
      clearTimeout(timer);
      timer = setTimeout(() => stalled.abort(new Error('the download stalled')), STALLED_TIMEOUT_MS);
      chunks.push(chunk);
      received += chunk.length;
      if (Date.now() - said < PROGRESS_MS) continue;
      said = Date.now();
      say(`  ${megabytes(received)} of ${total > 0 ? megabytes(total) : 'an unknown number of'} MB`);
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
  }
}

const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);

/** Go downloads the source from its module proxy, which closed networks often allow. */
async function build(folder: string, say: (line: string) => void, aborted: AbortSignal): Promise<string> {
  const go = ['go', '/usr/local/go/bin/go'].find((path) => spawnSync(path, ['version']).status === 0);
  if (go === undefined) throw new Error('Go is not installed');
  say(`Building Temporal ${TEMPORAL_VERSION} with Go (about six minutes, first run only) …`);
  const started = Date.now();
  const log = join(folder, 'build.log');
  const lines = () => readFileSync(log, 'utf8').trim().split('\n'); // one per package
  const working = setInterval(
    () => say(`  ${lines().length} packages after ${Math.round((Date.now() - started) / 1000)} s`),
    3 * PROGRESS_MS,
  );
  try {
    const code = await runGo(go, folder, log, aborted);
    if (code !== 0) throw new Error(`Go could not build it (${lines().at(-1)})`);
    return join(folder, 'temporal');
  } finally {
    clearInterval(working);
  }
}

/** Runs under the process guard, so that a build also stops when this process is killed. */
function runGo(go: string, folder: string, logFile: string, aborted: AbortSignal): Promise<number | null> {
  const child = startGuarded({
    command: go,
    args: ['install', '-v', `github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_VERSION}`],
    folder,
    env: { GOBIN: folder, GOFLAGS: '-trimpath' },
    logFile,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: PROGRESS_MS,
  });
  const stop = () => child.kill('SIGTERM');
  aborted.addEventListener('abort', stop);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      aborted.removeEventListener('abort', stop);
      resolve(code);
    });
  });
}
