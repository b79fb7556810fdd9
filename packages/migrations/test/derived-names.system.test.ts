import { emptyDatabase } from '@postroom/testkit/database';
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '@postroom/platform';
import { migrate } from '../src/migrate.ts';

test('only names that certainly are the local part are emptied, and only once', async () => {
  const { url, client: db, drop } = await emptyDatabase();
  onTestFinished(drop);
  await migrate(url);
  await db.query("DELETE FROM data_migrations WHERE name = 'derived_names'");
  const project = newId('prj');
  await db.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [project]);
  const insert = (email: string, name: string) =>
    db.query(
      `INSERT INTO contacts (id, project_id, email, email_key, name, source) VALUES ($1, $2, $3, lower($3), $4, 'api')`,
      [newId('ctc'), project, email, name],
    );
  await insert('ada.lovelace@example.com', 'ada.lovelace');
  await insert('Bob_82@example.com', 'Bob_82');
  await insert('eve+news@example.com', 'eve+news');
  await insert('grace@example.com', 'grace');
  await insert('alan.turing@example.com', 'Alan.Turing');
  await insert('jean@example.com', 'J. Bartik');
  await migrate(url);
  const names = async () =>
    (await db.query<{ name: string }>('SELECT name FROM contacts ORDER BY id')).rows.map(({ name }) => name);
  expect(await names()).toEqual(['', '', '', 'grace', 'Alan.Turing', 'J. Bartik']);

  await insert('tim.lee@example.com', 'tim.lee');
  await migrate(url);
  expect((await names()).at(-1)).toBe('tim.lee');
});
