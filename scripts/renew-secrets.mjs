// `npm run renew-secrets`: encrypts every secret in the database with the key in use, on Node 24, and says what is left. Without a
// DATABASE_URL it is the database and the keys of the Postroom that runs on a data folder.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fail, modernNode, ROOT } from './setup.mjs';

try {
  const { values } = parseArgs({ options: { data: { type: 'string' } } });
  const folder = resolve(process.env.INIT_CWD ?? process.cwd(), values.data ?? join(ROOT, '.postroom'));
  const renewal = spawn(modernNode(), [join(ROOT, 'apps/gateway/src/renew-secrets.ts')], {
    stdio: 'inherit',
    env: process.env.DATABASE_URL ? process.env : { ...process.env, ...settingsOf(folder) },
  });
  renewal.once('error', fail);
  renewal.once('exit', (code) => process.exit(code ?? 1));
} catch (error) {
  fail(error);
}

function settingsOf(folder) {
  const { databaseUrl, pid } = JSON.parse(readFileSync(join(folder, 'dev.json'), 'utf8'));
  if (pid === null) throw new Error(`No Postroom runs on ${folder}: start it first, or set DATABASE_URL.`);
  const { POSTROOM_SECRET_KEY, POSTROOM_KEY_FILE = join(folder, 'secret.key') } = process.env;
  return { DATABASE_URL: databaseUrl, ...(POSTROOM_SECRET_KEY ? {} : { POSTROOM_KEY_FILE }) };
}
