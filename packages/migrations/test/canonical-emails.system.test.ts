import { spawn } from 'node:child_process';
import { emptyDatabase } from '@postroom/testkit/database';
import { expect, onTestFinished, test } from 'vitest';
import { emailKey } from '@postroom/email-address';
import { newId } from '@postroom/platform';
import { migrate } from '../src/migrate.ts';

/** A database with addresses keyed as before this migration: in lower case, without normalization. */
async function oldDatabase() {
  const { url, client: db, drop } = await emptyDatabase();
  onTestFinished(drop);
  await migrate(url);
  await db.query('DELETE FROM data_migrations');
  const project = newId('prj');
  await db.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [project]);
  const contact = async (email: string, customFields: object = {}) => {
    const id = newId('ctc');
    await db.query(
      `INSERT INTO contacts (id, project_id, email, email_key, name, source, custom_fields) VALUES ($1, $2, $3, $4, 'Ada', 'api', $5)`,
      [id, project, email, email.toLowerCase(), customFields],
    );
    return id;
  };
  const suppression = (email: string, reason: string) =>
    db.query('INSERT INTO suppressions (id, project_id, email, email_key, reason) VALUES ($1, $2, $3, $4, $5)', [
      newId('sup'),
      project,
      email,
      email.toLowerCase(),
      reason,
    ]);
  const message = async (contactId: string | null, email: string, campaignId: string | null, state = 'accepted') => {
    const id = newId('eml');
    await db.query(
      `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, subject, state) VALUES ($1, $2, $3, $4, $5, 'Hi', $6)`,
      [id, project, campaignId, contactId, email, state],
    );
    await db.query(`INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'email.sent', $3)`, [
      newId('evt'),
      project,
      { email, message_id: id, contact_id: contactId },
    ]);
    return id;
  };
  const read = async (text: string, values: unknown[] = []) => (await db.query(text, values)).rows;
  return { url: url, project, db, contact, suppression, message, read };
}

test('contacts that were one address become the oldest one, with the groups, fields, messages and events of the others', async () => {
  const { url, project, db, contact, suppression, message, read } = await oldDatabase();
  const oldest = await contact('Ada@Bücher.example', { plan: 'pro' });
  const second = await contact('ada@xn--bcher-kva.example', { plan: 'free', city: 'Paris' });
  const third = await contact('a\u200bda@bücher。example', { seats: 3 });
  const other = await contact('bob@example.com');
  const dotted = await contact('bob@example.com.');
  const [one, two] = [newId('grp'), newId('grp')];
  for (const id of [one, two]) {
    await db.query('INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, $1, now())', [id, project]);
  }
  for (const [group, member] of [
    [one, oldest],
    [one, second],
    [two, third],
    [two, dotted],
  ]) {
    await db.query('INSERT INTO group_members (group_id, contact_id) VALUES ($1, $2)', [group, member]);
  }
  await db.query('INSERT INTO group_opt_outs (group_id, contact_id) VALUES ($1, $2)', [two, third]);
  const campaign = newId('cmp');
  const both = [
    await message(oldest, 'Ada@Bücher.example', campaign),
    await message(second, 'ada@xn--bcher-kva.example', campaign, 'planned'),
  ];
  const alone = await message(third, 'a\u200bda@bücher。example', newId('cmp'));
  await suppression('ada@BÜCHER.example', 'unsubscribed');
  await suppression('ada@xn--bcher-kva.example', 'unsubscribed');
  await suppression('ada\u00ad@bücher.example', 'complained');

  await migrate(url);

  expect(
    await read(
      'SELECT id, email, email_key, custom_fields, suppressed FROM contacts WHERE project_id = $1 ORDER BY id',
      [project],
    ),
  ).toEqual([
    {
      id: oldest,
      email: 'Ada@bücher.example',
      email_key: 'ada@xn--bcher-kva.example',
      custom_fields: { plan: 'pro', city: 'Paris', seats: 3 },
      suppressed: true,
    },
    { id: other, email: 'bob@example.com', email_key: 'bob@example.com', custom_fields: {}, suppressed: false },
  ]);
  expect(await read('SELECT group_id, contact_id FROM group_members ORDER BY 1, 2')).toEqual(
    [
      { group_id: one, contact_id: oldest },
      { group_id: two, contact_id: oldest },
      { group_id: two, contact_id: other },
    ].sort((a, b) => (a.group_id + a.contact_id < b.group_id + b.contact_id ? -1 : 1)),
  );
  expect(await read('SELECT group_id, contact_id FROM group_opt_outs')).toEqual([
    { group_id: two, contact_id: oldest },
  ]);
  expect(await read('SELECT email_key, reason::text FROM suppressions ORDER BY reason')).toEqual([
    { email_key: 'ada@xn--bcher-kva.example', reason: 'complained' },
    { email_key: 'ada@xn--bcher-kva.example', reason: 'unsubscribed' },
  ]);
  // One campaign had both: the row planned for the merged contact loses its contact and is not sent.
  expect(await read('SELECT id, contact_id, email, email_key FROM messages ORDER BY id')).toEqual([
    { id: both[0], contact_id: oldest, email: 'Ada@bücher.example', email_key: 'ada@xn--bcher-kva.example' },
    { id: both[1], contact_id: second, email: 'ada@xn--bcher-kva.example', email_key: null },
    { id: alone, contact_id: oldest, email: 'ada@bücher.example', email_key: 'ada@xn--bcher-kva.example' },
  ]);
  const events = await read(
    `SELECT type, data->>'contact_id' AS contact, data->>'email' AS email FROM events ORDER BY type, id`,
  );
  expect(
    events
      .filter(({ type }) => type === 'contact.deleted')
      .map((event) => event.contact)
      .sort(),
  ).toEqual([second, third, dotted].sort());
  expect(events.filter(({ type }) => type === 'email.sent')).toEqual([
    { type: 'email.sent', contact: oldest, email: 'Ada@bücher.example' },
    { type: 'email.sent', contact: oldest, email: 'ada@xn--bcher-kva.example' },
    { type: 'email.sent', contact: oldest, email: 'ada@bücher.example' },
  ]);

  const before = await read('SELECT c::text FROM contacts c ORDER BY id');
  await migrate(url);
  await db.query('DELETE FROM data_migrations');
  await migrate(url);
  expect(await read('SELECT c::text FROM contacts c ORDER BY id')).toEqual(before);
  expect(await read(`SELECT FROM events WHERE type = 'contact.deleted'`)).toHaveLength(3);
});

test('former addresses, soft bounces, mailboxes, users and invitations get the canonical form too', async () => {
  const { url, project, db, contact, read } = await oldDatabase();
  const id = await contact('ada@example.com');
  const [first, last] = ['ada@bücher.example', 'ada@bücher。example'];
  for (const key of [first, last]) {
    await db.query('INSERT INTO contact_addresses (contact_id, email_key, project_id) VALUES ($1, $2, $3)', [
      id,
      key,
      project,
    ]);
    await db.query(
      `INSERT INTO soft_bounce_streaks (project_id, email_key, bounces, last_message) VALUES ($1, $2, $3::int, 'eml_' || $3::int)`,
      [project, key, key === first ? 2 : 4],
    );
  }
  const user = newId('usr');
  await db.query('INSERT INTO users (id, name, email, updated_at) VALUES ($1, $2, $3, now())', [user, 'Ada', first]);

  await migrate(url);

  const key = 'ada@xn--bcher-kva.example';
  expect(await read('SELECT contact_id, email_key FROM contact_addresses')).toEqual([
    { contact_id: id, email_key: key },
  ]);
  expect(await read('SELECT email_key, bounces FROM soft_bounce_streaks')).toEqual([{ email_key: key, bounces: 4 }]);
  expect(await read('SELECT email FROM users')).toEqual([{ email: key }]);
});

test(
  'killed at any moment, the migration ends with each address once and nothing lost',
  { timeout: 120_000 },
  async () => {
    const { url, project, db, read } = await oldDatabase();
    const people = 400;
    const rows = Array.from({ length: people }, (_, index) =>
      [`p${index}@bücher.example`, `p${index}@xn--bcher-kva.example`, `p\u00ad${index}@bücher.example`].map(
        (email) => ({
          id: newId('ctc'),
          email,
          key: email.toLowerCase(),
        }),
      ),
    ).flat();
    await db.query(
      `INSERT INTO contacts (id, project_id, email, email_key, name, source, custom_fields)
     SELECT id, $1, email, key, 'P', 'import', jsonb_build_object(id, true) FROM unnest($2::text[], $3::text[], $4::text[]) AS r(id, email, key)`,
      [project, rows.map(({ id }) => id), rows.map(({ email }) => email), rows.map(({ key }) => key)],
    );
    const program = `
    const { migrate } = await import(${JSON.stringify(new URL('../src/migrate.ts', import.meta.url).href)});
    await migrate(${JSON.stringify(url)});`;
    let kills = 0;
    for (let wait = 500; ; wait *= 1.5) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
      const ended = new Promise<boolean>((resolve) => child.once('exit', (code) => resolve(code === 0)));
      const timer = setTimeout(() => child.kill('SIGKILL'), wait);
      const isDone = await ended;
      clearTimeout(timer);
      if (isDone) break;
      kills++;
    }
    expect(kills).toBeGreaterThan(0);
    const kept = (await read('SELECT email_key, custom_fields FROM contacts')) as {
      email_key: string;
      custom_fields: object;
    }[];
    expect(new Set(kept.map((row) => row.email_key)).size).toBe(people);
    expect(kept).toHaveLength(people);
    expect(kept.every((row) => emailKey(row.email_key) === row.email_key)).toBe(true);
    expect(kept.every((row) => Object.keys(row.custom_fields).length === 3)).toBe(true);
    expect(await read(`SELECT DISTINCT data->>'contact_id' FROM events WHERE type = 'contact.deleted'`)).toHaveLength(
      2 * people,
    );
  },
);
