// `npm run dev`: starts everything, restarts a program when its sources change, and serves the dashboard with hot
// reload behind a proxy to the gateway. A program drains on SIGTERM; the launcher restarts it.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, watch } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { modernNode, ROOT, setUp } from './setup.mjs';
import { start } from './start.mjs';

/** Debounce of file changes, in milliseconds: editors save in several steps. */
const DEBOUNCE_MS = 200;
/** Poll interval for the launcher's dev.json during startup, in milliseconds. */
const POLL_MS = 500;

/** The programs to restart after a change in each folder. Modules and packages belong to several programs. */
const AFFECTED = {
  modules: ['gateway', 'worker'],
  packages: ['gateway', 'worker'],
  workflows: ['worker'],
};

/** Starts the development system: the launcher with these arguments, a watcher, and Vite. */
export async function dev(args) {
  const { values } = parseArgs({ args, options: { data: { type: 'string' } }, strict: false });
  const dataDir = resolve(process.env.INIT_CWD ?? process.cwd(), values.data ?? join(ROOT, '.postroom'));
  await setUp();
  await start(args);
  const devFile = await waitForDevFile(dataDir);
  watchSources(dataDir);
  serveDashboard(devFile.url);
}

async function waitForDevFile(dataDir) {
  for (;;) {
    try {
      const content = JSON.parse(readFileSync(join(dataDir, 'dev.json'), 'utf8'));
      if (content.pid !== null && (await fetch(`${content.url}/readyz`)).ok) return content;
    } catch {
      // not there yet
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

function watchSources(dataDir) {
  const pending = new Map();
  const schedule = (program, file) => {
    clearTimeout(pending.get(program));
    pending.set(
      program,
      setTimeout(() => restart(dataDir, program, file), DEBOUNCE_MS),
    );
  };
  for (const folder of ['modules', 'packages', 'workflows', 'apps']) {
    if (!existsSync(join(ROOT, folder))) continue;
    watch(join(ROOT, folder), { recursive: true }, (_event, name) => {
      if (name === null || !/\.(ts|prisma)$/.test(name) || /\.test\.ts$|generated/.test(name)) return;
      const [app] = name.split(sep);
      const programs = folder === 'apps' ? [app] : AFFECTED[folder];
      if (folder === 'apps' && ['dashboard', 'launcher'].includes(app)) return;
      for (const program of programs) schedule(program, join(folder, name));
    });
  }
}

function restart(dataDir, program, file) {
  try {
    const [id] = JSON.parse(readFileSync(join(dataDir, 'run', `${program}.json`), 'utf8'));
    console.log(`${relative('.', file)} changed: restarting the ${program}`);
    process.kill(id.pid, 'SIGTERM');
  } catch {
    // It is not running: the launcher is already restarting it, with the change.
  }
}

function serveDashboard(gatewayUrl) {
  const vite = spawn(modernNode(), [join(ROOT, 'node_modules/vite/bin/vite.js'), join(ROOT, 'apps/dashboard')], {
    stdio: 'inherit',
    env: { ...process.env, POSTROOM_GATEWAY_URL: gatewayUrl },
  });
  process.once('exit', () => vite.kill());
}
