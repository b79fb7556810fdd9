import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { SystemApi } from '@postroom/testkit';
import type pg from 'pg';
import { expect } from 'vitest';

/** Runs `postroom after-restore` with more settings than those of the tests. @returns what it prints. */
export async function runAfterRestore(settings: Record<string, string>, args: readonly string[]): Promise<string> {
  const program = join(import.meta.dirname, '../src/after-restore.ts');
  const env = { ...process.env, LOG_LEVEL: 'fatal', ...settings };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const status = await new Promise((resolve) => child.once('exit', resolve));
  expect([status, output]).toEqual([0, expect.anything()]);
  return output;
}

/** Adds a campaign to contacts whose addresses begin with its name. @returns its id. */
export async function addCampaign(
  pool: pg.Pool,
  api: SystemApi,
  { name, recipients }: { name: string; recipients: number },
): Promise<string> {
  await pool.query(
    `WITH contact AS (
       INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
       SELECT postroom_id('ctc'), $1, a, a, 'Reader', 'api', now()
       FROM generate_series(1, ${recipients}) i CROSS JOIN LATERAL (SELECT $2 || i || '@mail.test' AS a) AS address RETURNING id
     ), made AS (INSERT INTO groups (id, project_id, name, updated_at) VALUES ($3, $1, 'All', now()))
     INSERT INTO group_members (group_id, contact_id) SELECT $3, id FROM contact`,
    [api.projectId, name, `grp_${name}`],
  );
  const { data } = (
    await api.post('/v1/campaigns', {
      name,
      subject: 'News',
      from_email: 'news@example.com',
      html: '<p>Hello</p>',
      group_ids: [`grp_${name}`],
    })
  ).body;
  return data.id;
}
