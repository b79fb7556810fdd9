import { newId } from '@postroom/platform';
import { createDatabase, type EmptyDatabase } from '@postroom/testkit';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { BATCH_ROWS } from '../src/move/delete-rows.ts';
import { deleteProject } from '../src/move/delete.ts';
import { abortMove, type Move, moveProject } from '../src/move/move.ts';
import { INSTALLATION_TABLES, readProjectTables } from '../src/move/tables.ts';

/** A move takes a few hundred statements, which a busy machine makes slow. */
vi.setConfig({ testTimeout: 120_000 });

type Database = Omit<EmptyDatabase, 'client'>;

let databases: Database[];
let pools: [pg.Pool, pg.Pool];

/** Owns both databases, as in an installation: a role without privileges but the one that docs/how-to/cells.md has granted. */
const ROLE = `mover_${newId('req')}`;

beforeAll(async () => {
  databases = [await createDatabase('cell_a'), await createDatabase('cell_b')];
  pools = databases.map(({ url }) => new pg.Pool({ connectionString: url, max: 4 })) as typeof pools;
  for (const pool of pools) pool.on('error', () => {});
  await pools[0].query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${ROLE}'`);
  for (const pool of pools) await pool.query(GIVE_ALL_TO_ROLE);
  await pools[0].query(`GRANT SET ON PARAMETER session_replication_role TO ${ROLE}`);
});

afterAll(async () => {
  const [a, b] = pools;
  await a.query(`REVOKE SET ON PARAMETER session_replication_role FROM ${ROLE}`);
  await b.end();
  await databases[1]?.drop();
  await a.query(`REASSIGN OWNED BY ${ROLE} TO CURRENT_USER`);
  await a.query(`DROP ROLE ${ROLE}`);
  await a.end();
  await databases[0]?.drop();
});

const GIVE_ALL_TO_ROLE = `
  DO $$
  DECLARE owned record;
  BEGIN
    EXECUTE format('ALTER DATABASE %I OWNER TO ${ROLE}', current_database());
    ALTER SCHEMA public OWNER TO ${ROLE};
    FOR owned IN SELECT oid::regclass AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') LOOP
      EXECUTE format('ALTER TABLE %s OWNER TO ${ROLE}', owned.name);
    END LOOP;
    FOR owned IN SELECT p.oid::regprocedure AS name FROM pg_proc p
      WHERE pronamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e') LOOP
      EXECUTE format('ALTER ROUTINE %s OWNER TO ${ROLE}', owned.name);
    END LOOP;
  END $$`;

/** As the role. */
function connectionTo({ url }: Database): pg.Client {
  const connectionString = Object.assign(new URL(url), { username: ROLE, password: ROLE }).href;
  return new pg.Client({ connectionString });
}

/** A project with rows in tables of each kind: with the project's id, by a parent, shared with other projects, partitioned. */
async function seed(pool: pg.Pool) {
  const id = newId('prj');
  const [user, key, contact, group, endpoint, campaign, event] = (
    ['usr', 'key', 'con', 'grp', 'whe', 'cmp', 'evt'] as const
  ).map((prefix) => newId(prefix as 'usr'));
  const run = (text: string, values: unknown[]) => pool.query(text, values);
  await run('INSERT INTO projects (id, name) VALUES ($1, $1)', [id]);
  await run(`INSERT INTO users (id, name, email) VALUES ($1, 'Ada', $1 || '@example.com')`, [user]);
  await run(`INSERT INTO members (project_id, user_id, role) VALUES ($1, $2, 'owner')`, [id, user]);
  await run(`INSERT INTO api_keys (id, name, hash, last4, scope) VALUES ($1, 'k', $1, '1234', 'full')`, [key]);
  await run('INSERT INTO api_key_projects (key_id, project_id) VALUES ($1, $2)', [key, id]);
  await run(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source) VALUES ($1, $2, 'ada@example.com', 'ada@example.com', 'Ada', 'api')`,
    [contact, id],
  );
  await run(`INSERT INTO groups (id, project_id, name) VALUES ($1, $2, 'All')`, [group, id]);
  await run('INSERT INTO group_members (group_id, contact_id) VALUES ($1, $2)', [group, contact]);
  await run(
    `INSERT INTO webhook_endpoints (id, project_id, url, events, secret) VALUES ($1, $2, 'https://example.com/', '{*}', 's')`,
    [endpoint, id],
  );
  await run(`INSERT INTO campaigns (id, project_id, name, status) VALUES ($1, $2, 'News', 'paused')`, [campaign, id]);
  const message = newId('eml');
  await run(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state) VALUES ($1, $2, $3, $4, 'ada@example.com', 'accepted')`,
    [message, id, campaign, contact],
  );
  await run(`INSERT INTO tracked_links (owner_id, position, url) VALUES ($1, 0, 'https://example.com/')`, [campaign]);
  // A trigger inserts the delivery.
  await run(`INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'email.sent', '{"a":"\\t"}')`, [
    event,
    id,
  ]);
  return { id, user: user!, key: key!, group: group!, contact: contact!, message, campaign: campaign! };
}

async function countRows(pool: pg.Pool, projectId: string): Promise<Record<string, number>> {
  const client = await pool.connect();
  try {
    const counts: Record<string, number> = {};
    for (const { name, where } of await readProjectTables(client)) {
      const { rows } = await client.query(`SELECT count(*)::int AS count FROM ${name} t WHERE ${where}`, [projectId]);
      if (rows[0].count > 0) counts[name] = rows[0].count;
    }
    return counts;
  } finally {
    client.release();
  }
}

/** What a killed process leaves behind: connections that are gone. */
function cut(...clients: pg.Client[]): never {
  for (const client of clients)
    (client as unknown as { connection: { stream: { destroy: () => void } } }).connection.stream.destroy();
  throw new Error('killed');
}

/** As a request to delete a project leaves it. */
const markDeleted = (pool: pg.Pool, projectId: string) =>
  pool.query(`INSERT INTO project_cells (project_id, cell, state, move_id) VALUES ($1, '', 'deleted', $1)`, [
    projectId,
  ]);

/** Deletes with a new connection, as each attempt of the activity does. */
async function remove(projectId: string, report: (step: string) => unknown = () => {}): Promise<void> {
  const client = connectionTo(databases[0]!);
  client.on('error', () => {});
  await client.connect();
  try {
    await deleteProject({
      client,
      projectId,
      drainMs: 500,
      report: async (step) => {
        if ((await report(step)) === 'kill') cut(client);
      },
    });
  } finally {
    await Promise.allSettled([client.end()]);
  }
}

/** Moves with new connections, as each run of the command does. */
async function move(
  projectId: string,
  {
    back = false,
    abort = false,
    disagreement,
    report = () => {},
    post = () => Promise.resolve(),
  }: {
    back?: boolean;
    abort?: boolean;
    disagreement?: string | undefined;
    report?: (step: string) => unknown;
    post?: Move['post'];
  } = {},
): Promise<void> {
  const [a, b] = databases.map(connectionTo) as [pg.Client, pg.Client];
  const [source, target] = back ? [b, a] : [a, b];
  for (const client of [a, b]) client.on('error', () => {});
  await Promise.all([a.connect(), b.connect()]);
  const of = {
    source,
    target,
    projectId,
    from: back ? 'b' : 'a',
    to: back ? 'a' : 'b',
    post,
    report: async (step: string) => {
      const done = await report(step);
      if (done === 'kill') cut(a, b);
    },
  };
  try {
    if (abort) await abortMove(of);
    else
      await moveProject({
        ...of,
        findDisagreement: () => Promise.resolve(disagreement),
        drainMs: 2_000,
        endWorkflows: () => Promise.resolve(),
      });
  } finally {
    await Promise.allSettled([a.end(), b.end()]);
  }
}

const placeIn = async (pool: pg.Pool, projectId: string) =>
  (await pool.query('SELECT cell, state FROM project_cells WHERE project_id = $1', [projectId])).rows[0];

test('a project moves with all its rows, and leaves those of others', async () => {
  const [a, b] = pools;
  const [project, other] = [await seed(a), await seed(a)];
  // A key that other projects use stays for them.
  await a.query('INSERT INTO api_key_projects (key_id, project_id) VALUES ($1, $2)', [other.key, project.id]);
  const [before, ofOther] = [await countRows(a, project.id), await countRows(a, other.id)];
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining([
      'contacts',
      'group_members',
      'messages',
      'events',
      'deliveries',
      'api_keys',
      'users',
      'tracked_links',
    ]),
  );
  await move(project.id);
  expect(await countRows(b, project.id)).toEqual(before);
  expect(await countRows(a, project.id)).toEqual({});
  expect(await countRows(a, other.id)).toEqual(ofOther);
  expect([await placeIn(a, project.id), await placeIn(b, project.id)]).toEqual([
    { cell: 'b', state: 'moved' },
    { cell: 'b', state: 'here' },
  ]);
  // And back again.
  await move(project.id, { back: true });
  expect(await countRows(a, project.id)).toEqual(before);
  expect(await countRows(b, project.id)).toEqual({});
});

test('a move is refused, and nothing changed, while the cells disagree or the role may not skip triggers', async () => {
  const [a, b] = pools;
  const project = await seed(a);
  const before = await countRows(a, project.id);
  await expect(move(project.id, { disagreement: 'The secret keys differ.' })).rejects.toThrow(
    'The secret keys differ.',
  );
  await b.query(`INSERT INTO data_migrations (name, finished_at) VALUES ('later', now())`);
  await expect(move(project.id)).rejects.toThrow('The cells have different migrations');
  await b.query(`DELETE FROM data_migrations WHERE name = 'later'`);
  await a.query(`REVOKE SET ON PARAMETER session_replication_role FROM ${ROLE}`);
  await expect(move(project.id)).rejects.toThrow(`GRANT SET ON PARAMETER session_replication_role TO ${ROLE}`);
  await a.query(`GRANT SET ON PARAMETER session_replication_role TO ${ROLE}`);
  expect([await placeIn(a, project.id), await countRows(a, project.id)]).toEqual([undefined, before]);
});

test('whose the rows of a table are is known of every table', async () => {
  const { rows } = await pools[0].query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  const client = await pools[0].connect();
  const known = [...(await readProjectTables(client)).map(({ name }) => name), ...INSTALLATION_TABLES];
  client.release();
  expect(known.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
});

test('while it is copied PostgreSQL refuses every change of the project, and of no other', async () => {
  const [a] = pools;
  const [project, other] = [await seed(a), await seed(a)];
  const changes = (of: typeof project) => [
    `UPDATE projects SET name = 'New' WHERE id = '${of.id}'`,
    `INSERT INTO groups (id, project_id, name) VALUES ('${newId('grp')}', '${of.id}', '${newId('grp')}')`,
    `UPDATE group_members SET joined_at = now() WHERE group_id = '${of.group}'`,
    `DELETE FROM group_members WHERE group_id = '${of.group}'`,
    `INSERT INTO events (id, project_id, type, data) VALUES ('${newId('evt')}', '${of.id}', 'email.sent', '{}')`,
    `UPDATE api_keys SET revoked_at = now() WHERE id = '${of.key}'`,
    `UPDATE tracked_links SET clicks = clicks + 1 WHERE owner_id = '${of.campaign}'`,
  ];
  const codes: unknown[] = [];
  await move(project.id, {
    report: async (step) => {
      if (step !== 'The fence is closed.') return;
      for (const change of changes(other)) await a.query(change);
      for (const change of changes(project)) codes.push(await a.query(change).catch(({ code }) => code));
    },
  });
  expect(codes).toEqual(changes(project).map(() => '55M01'));
  const { rows } = await a.query(`SELECT count(*)::int AS count FROM pg_trigger WHERE tgname LIKE 'a\\_moving%'`);
  expect(rows[0].count).toBe(0);
});

test('what changes while most rows are copied arrives as it is in the end', async () => {
  const [a, b] = pools;
  const [project, other] = [await seed(a), await seed(a)];
  const contact = async (email: string): Promise<string> => {
    const id = newId('con' as 'usr');
    await a.query(
      `INSERT INTO contacts (id, project_id, email, email_key, name, source) VALUES ($1, $2, $3, $3, 'New', 'api')`,
      [id, project.id, email],
    );
    return id;
  };
  const [kept, swapped] = [await contact('kept@example.com'), await contact('swapped@example.com')];
  const gone = newId('grp');
  await a.query(`INSERT INTO groups (id, project_id, name) VALUES ($1, $2, 'Gone')`, [gone, project.id]);
  await a.query('INSERT INTO group_members (group_id, contact_id) VALUES ($1, $2), ($1, $3)', [gone, kept, swapped]);
  await a.query(
    `INSERT INTO messages (id, project_id, email, state) SELECT postroom_id('eml'), $1, 'x@example.com', 'accepted' FROM generate_series(1, 50)`,
    [project.id],
  );
  let expected: Record<string, unknown[]> = {};
  const read = async (pool: pg.Pool) => {
    const found: Record<string, unknown[]> = {};
    for (const { name, where, columns } of await readProjectTables(pool as unknown as pg.ClientBase)) {
      const { rows } = await pool.query(
        `SELECT ${columns.map((column) => `t."${column}"`).join(', ')} FROM ${name} t WHERE ${where}`,
        [project.id],
      );
      if (rows.length > 0) found[name] = rows.map((row) => JSON.stringify(row)).toSorted();
    }
    return found;
  };
  let reused = '';
  await move(project.id, {
    report: async (step) => {
      if (step === 'The fence is closed.') expected = await read(a);
      if (!step.startsWith('In advance')) return;
      // Unknown to everyone else until the move is committed.
      expect(await countRows(b, project.id)).toEqual({});
      await a.query(`UPDATE contacts SET name = 'Changed' WHERE id = $1`, [kept]);
      // Another contact gets an address that must be unique.
      await a.query('DELETE FROM contacts WHERE id = $1', [swapped]);
      reused = await contact('swapped@example.com');
      await a.query('DELETE FROM groups WHERE id = $1', [gone]);
      await a.query(`DELETE FROM messages WHERE project_id = $1 AND email = 'x@example.com'`, [project.id]);
      await a.query(`UPDATE messages SET bounced_at = now() WHERE id = $1`, [project.message]);
      await a.query(`INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'email.bounced', '{}')`, [
        newId('evt'),
        project.id,
      ]);
      await a.query(`UPDATE tracked_links SET clicks = clicks + 1 WHERE owner_id = $1`, [project.campaign]);
      await a.query(`INSERT INTO groups (id, project_id, name) VALUES ($1, $2, 'Another')`, [newId('grp'), other.id]);
      for (const id of ['eml', 'eml'] as const)
        await a.query(
          `WITH sent AS (INSERT INTO messages (id, project_id, email, state) VALUES ($1, $2, 'new@example.com', 'accepted') RETURNING id, project_id)
           INSERT INTO tracking_hits (message_id, project_id, kind, at, verdict) SELECT id, project_id, 'open', now(), 'person' FROM sent`,
          [newId(id), project.id],
        );
    },
  });
  const found = await read(b);
  // Work is released when it arrives.
  for (const table of ['deliveries', 'statistics_progress', 'event_exports']) {
    expect(found[table]?.length).toBe(expected[table]?.length);
    delete found[table];
    delete expected[table];
  }
  expect(found).toEqual(expected);
  const { rows } = await b.query('SELECT id, name FROM contacts WHERE project_id = $1 AND id = ANY ($2) ORDER BY id', [
    project.id,
    [kept, swapped, reused],
  ]);
  expect(rows).toEqual([
    { id: kept, name: 'Changed' },
    { id: reused, name: 'New' },
  ]);
  // Nothing of what was deleted is left behind, not even what no row leads to.
  expect((await b.query('SELECT FROM group_members WHERE group_id = $1', [gone])).rowCount).toBe(0);
  expect((await b.query(`SELECT FROM messages WHERE email = 'x@example.com'`)).rowCount).toBe(0);
});

test('of rows with serial numbers only the new ones are copied in the end, or all if others have changed', async () => {
  const [a, b] = pools;
  const numbersUsed = async () => {
    const { rows } = await b.query(`SELECT nextval('tracking_hits_id_seq')::int AS number`);
    return rows[0].number as number;
  };
  for (const isDeleted of [false, true]) {
    const { id, message } = await seed(a);
    const hits = async (pool: pg.Pool) =>
      (await pool.query('SELECT kind, at FROM tracking_hits WHERE message_id = $1 ORDER BY at', [message])).rows;
    const add = (count: number) =>
      a.query(
        `INSERT INTO tracking_hits (message_id, project_id, kind, at, verdict)
         SELECT $1, $2, 'open', clock_timestamp(), 'person' FROM generate_series(1, $3::int)`,
        [message, id, count],
      );
    await add(100);
    const already = (await hits(a)).length;
    const before = await numbersUsed();
    await move(id, {
      report: async (step) => {
        if (!step.startsWith('In advance')) return;
        await add(2);
        if (isDeleted)
          await a.query(
            'DELETE FROM tracking_hits WHERE id = (SELECT min(id) FROM tracking_hits WHERE message_id = $1)',
            [message],
          );
      },
    });
    const arrived = await hits(b);
    expect(arrived).toHaveLength(isDeleted ? already + 1 : already + 2);
    expect((await numbersUsed()) - before - 1).toBe(isDeleted ? 2 * already + 1 : already + 2);
  }
});

test('readers go on where they were: transaction numbers keep their order, and what was counted or exported stays so', async () => {
  const [a, b] = pools;
  const project = await seed(a);
  const insert = `INSERT INTO events (id, project_id, type, data) VALUES ($2, $1, 'email.sent', '{}') RETURNING xact::float8`;
  const record = async (pool: pg.Pool): Promise<number> =>
    (await pool.query(insert, [project.id, newId('evt')])).rows[0].xact;
  const counted = await record(a);
  for (const table of ['statistics_progress', 'event_exports'])
    await a.query(`INSERT INTO ${table} (project_id, xact) VALUES ($1, $2)`, [project.id, counted + 1]);
  await record(a);
  const shifts = async (pool: pg.Pool): Promise<number[]> =>
    (
      await pool.query('SELECT transaction_shifts::float8[] AS shifts FROM project_cells WHERE project_id = $1', [
        project.id,
      ])
    ).rows[0]?.shifts;
  /** By transaction: those that are counted, and the others. */
  const parts = async (pool: pg.Pool) => {
    const { rows } = await pool.query(
      `SELECT e.id, e.xact::float8, e.xact >= s.xact AS uncounted, e.xact >= x.xact AS "toExport" FROM events e
       JOIN statistics_progress s USING (project_id) JOIN event_exports x USING (project_id)
       WHERE project_id = $1 ORDER BY e.xact, e.id`,
      [project.id],
    );
    return rows as { id: string; xact: number; uncounted: boolean; toExport: boolean }[];
  };
  const before = await parts(a);
  expect(before.map((row) => row.uncounted)).toEqual([false, false, true]);
  await move(project.id);
  const [shift = 0] = await shifts(b);
  expect(await parts(b)).toEqual(before.map((row) => ({ ...row, xact: row.xact - shift })));
  expect((await parts(b)).every(({ xact }) => xact < 0)).toBe(true);
  expect(await record(b)).toBeGreaterThan(0);
  const between = await parts(b);
  // A move that is aborted leaves them as they are, and one back adds to them.
  await expect(
    move(project.id, { back: true, report: (step) => (step.startsWith('Copied') ? 'kill' : undefined) }),
  ).rejects.toThrow();
  await expect.poll(() => move(project.id, { back: true, abort: true }).then(() => true, String)).toBe(true);
  expect([await shifts(b), await placeIn(b, project.id)]).toEqual([[shift], { cell: 'b', state: 'here' }]);
  await move(project.id, { back: true });
  const [first, second = 0] = await shifts(a);
  expect(first).toBe(shift);
  expect(await parts(a)).toEqual(between.map((row) => ({ ...row, xact: row.xact - second })));
});

test('killed at any step, a move continues, and everything arrives once', async () => {
  const [a, b] = pools;
  const steps: string[] = [];
  const first = await seed(a);
  await move(first.id, { report: (step) => void steps.push(step) });
  expect(steps.length).toBeGreaterThan(5);
  for (const at of steps) {
    const project = await seed(a);
    const before = await countRows(a, project.id);
    await expect(move(project.id, { report: (step) => (step === at ? 'kill' : undefined) })).rejects.toThrow('killed');
    await expect.poll(() => move(project.id).then(() => true, String)).toBe(true);
    expect(await countRows(b, project.id)).toEqual(before);
    expect(await countRows(a, project.id)).toEqual({});
  }
}, 300_000);

test('a hit that comes during the move arrives once, and is classified in the new cell', async () => {
  const [a, b] = pools;
  const { id, message } = await seed(a);
  const hit = `INSERT INTO tracking_hits (message_id, kind, at) VALUES ('${message}', 'open', now())`;
  await a.query(hit);
  await move(id, { report: (step) => (step.startsWith('Copied') ? a.query(hit) : undefined) });
  const { rows } = await b.query('SELECT verdict FROM tracking_hits WHERE message_id = $1', [message]);
  expect(rows).toEqual([{ verdict: null }, { verdict: null }]);
});

test('requests that came during the move are posted in their order to the cell that has the project, until it has them', async () => {
  const [a] = pools;
  const [{ id }, other] = [await seed(a), await seed(a)];
  // Not in the same millisecond, as what came in one has no order.
  const hold = (projectId: string, key: string) =>
    a.query(
      `INSERT INTO held_requests (project_id, key, path, body, held_at)
       SELECT $1, $2, '/' || $2, '', now() + count(*) * interval '1 s' FROM held_requests`,
      [projectId, key],
    );
  const keys = async () => (await a.query('SELECT key FROM held_requests')).rows.map(({ key }) => key);
  const posted: string[] = [];
  const post: Move['post'] = (cell, { path }) => {
    posted.push(cell + path);
    return posted.join() === 'b/2,b/1' ? Promise.reject(new Error('no answer')) : Promise.resolve();
  };
  await hold(other.id, 'other');
  const report = async (step: string) => {
    if (step !== 'The fence is closed.') return;
    await hold(id, '2');
    await hold(id, '1');
  };
  await expect(move(id, { report, post })).rejects.toThrow('no answer');
  await move(id, { post });
  expect([posted, await keys()]).toEqual([['b/2', 'b/1', 'b/1'], ['other']]);

  // An abort posts them to the cell that keeps the project, also if it is killed meanwhile.
  posted.length = 0;
  await a.query(`INSERT INTO project_cells (project_id, cell, state, move_id) VALUES ($1, 'b', 'moving', 'test')`, [
    other.id,
  ]);
  const fails = () => Promise.reject(new Error('killed'));
  await expect(move(other.id, { abort: true, post: fails })).rejects.toThrow('killed');
  await move(other.id, { abort: true, post });
  expect([posted, await keys()]).toEqual([['a/other'], []]);
  await expect(move(other.id, { abort: true, post })).rejects.toThrow('No move');
});

test('an aborted move leaves the project as it was; one that was committed can only be finished', async () => {
  const [a, b] = pools;
  const project = await seed(a);
  const before = await countRows(a, project.id);
  await expect(
    move(project.id, { report: (step) => (step.startsWith('Copied') ? 'kill' : undefined) }),
  ).rejects.toThrow();
  expect(await placeIn(a, project.id)).toEqual({ cell: 'b', state: 'moving' });
  await expect.poll(() => move(project.id, { abort: true }).then(() => true, String)).toBe(true);
  expect([await placeIn(a, project.id), await countRows(a, project.id), await countRows(b, project.id)]).toEqual([
    undefined,
    before,
    {},
  ]);
  await a.query(`UPDATE projects SET name = 'New' WHERE id = $1`, [project.id]);
  await expect(
    move(project.id, { report: (step) => (step === 'b has the project.' ? 'kill' : undefined) }),
  ).rejects.toThrow();
  await expect.poll(() => move(project.id, { abort: true }).catch(String)).toContain('b has the project already');
  await move(project.id);
  expect(await countRows(b, project.id)).toEqual(before);
});

test('a message that is in flight keeps the project, and a person with another account in the target does too', async () => {
  const [a, b] = pools;
  const [busy, known] = [await seed(a), await seed(a)];
  await a.query('UPDATE campaigns SET claimed_count = 1 WHERE id = $1', [busy.campaign]);
  await expect(move(busy.id)).rejects.toThrow('Still in flight: 1 message and 0 webhook deliveries.');
  await b.query(`INSERT INTO users (id, name, email) VALUES ($1, 'Ada', $2 || '@example.com')`, [
    newId('usr'),
    known.user,
  ]);
  await expect(move(known.id)).rejects.toThrow(`${known.user}@example.com has another account in the target`);
  expect(await countRows(b, known.id)).toEqual({});
});

test('a project is deleted with all its rows once that was requested, and others keep theirs', async () => {
  const [a] = pools;
  const [project, other] = [await seed(a), await seed(a)];
  await a.query('INSERT INTO api_key_projects (key_id, project_id) VALUES ($1, $2)', [other.key, project.id]);
  const [before, ofOther] = [await countRows(a, project.id), await countRows(a, other.id)];
  await expect(remove(project.id)).rejects.toThrow('The deletion of this project was not requested.');
  expect([await countRows(a, project.id), await placeIn(a, project.id)]).toEqual([before, undefined]);
  await markDeleted(a, project.id);
  await remove(project.id);
  expect(await countRows(a, project.id)).toEqual({});
  expect(await countRows(a, other.id)).toEqual(ofOther);
  expect(await placeIn(a, project.id)).toEqual({ cell: '', state: 'deleted' });
  // The person keeps the account, and the fence is gone.
  const { rows } = await a.query('SELECT FROM users WHERE id = $1', [project.user]);
  const triggers = await a.query(`SELECT FROM pg_trigger WHERE tgname LIKE '%' || $1`, [project.id]);
  expect([rows.length, triggers.rows.length]).toEqual([1, 0]);
});

test('many rows are deleted in several transactions, and not while the fence makes changes of other projects slower', async () => {
  const [a] = pools;
  const project = await seed(a);
  await a.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source)
     SELECT 'con_' || n, $1, n || '@example.com', n || '@example.com', '', 'api' FROM generate_series(1, 12000) n`,
    [project.id],
  );
  // Also when a session skips triggers.
  await a.query(`
    CREATE SCHEMA watched;
    CREATE TABLE watched.deletions (xact xid8, rows int, is_fenced boolean);
    CREATE FUNCTION watched.record() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO watched.deletions SELECT pg_current_xact_id(), count(*), EXISTS (SELECT FROM pg_trigger WHERE tgname LIKE 'a_moving_%_${project.id}') FROM old;
      RETURN NULL;
    END $$;
    CREATE TRIGGER watched AFTER DELETE ON contacts REFERENCING OLD TABLE AS old FOR EACH STATEMENT EXECUTE FUNCTION watched.record();
    ALTER TABLE contacts ENABLE ALWAYS TRIGGER watched`);
  try {
    await markDeleted(a, project.id);
    await remove(project.id);
    const { rows } = await a.query(
      'SELECT sum(rows)::int AS rows, bool_or(is_fenced) AS "isFenced" FROM watched.deletions GROUP BY xact ORDER BY rows DESC',
    );
    const of = (count: number) => ({ rows: count, isFenced: false });
    expect(rows).toEqual([of(BATCH_ROWS), of(BATCH_ROWS), of(12_001 - 2 * BATCH_ROWS)]);
  } finally {
    await a.query('DROP SCHEMA watched CASCADE');
  }
});

test('killed at any step, a deletion continues', async () => {
  const [a] = pools;
  const steps: string[] = [];
  const first = await seed(a);
  await markDeleted(a, first.id);
  await remove(first.id, (step) => void steps.push(step));
  expect(steps.length).toBeGreaterThan(3);
  for (const at of steps) {
    const project = await seed(a);
    await markDeleted(a, project.id);
    await expect(remove(project.id, (step) => (step === at ? 'kill' : undefined))).rejects.toThrow('killed');
    await expect.poll(() => remove(project.id).then(() => true, String)).toBe(true);
    expect(await countRows(a, project.id)).toEqual({});
  }
}, 300_000);

test('a deletion waits for mail in flight, and a project that is being deleted is not moved', async () => {
  const [a] = pools;
  const busy = await seed(a);
  await a.query('UPDATE campaigns SET claimed_count = 1 WHERE id = $1', [busy.campaign]);
  await markDeleted(a, busy.id);
  const before = await countRows(a, busy.id);
  await expect(remove(busy.id)).rejects.toThrow('Still in flight: 1 message and 0 webhook deliveries.');
  expect(await countRows(a, busy.id)).toEqual(before);
  await expect.poll(() => move(busy.id).catch(String)).toContain('The project is being deleted.');
  await a.query('UPDATE campaigns SET claimed_count = 0 WHERE id = $1', [busy.campaign]);
  await remove(busy.id);
  expect(await countRows(a, busy.id)).toEqual({});
});
