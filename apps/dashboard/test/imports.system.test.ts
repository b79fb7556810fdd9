import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, signedIn, startTestWorker, testApi } from '@postroom/testkit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { inBrowser, accessibilityViolations, soon, windowOf } from './browser.ts';

const FILE = [
  'E-Mail;Vorname;Nachname;Stadt;Kunde seit',
  'ada@example.com;Ada;Lovelace;London;2020-02-29',
  'grace@example.com;Grace;Hopper;"New York; NY";2021-01-01',
  'no address;X;Y;Z;2021-01-01',
].join('\r\n');

const file = (text: string) => ({ name: 'kunden.csv', mimeType: 'text/csv', buffer: Buffer.from(text, 'latin1') });

const choose = (page: Page, text = FILE) => page.locator('input[type=file]').setInputFiles(file(text));

const contacts = async (api: Api) => (await api.get('/v1/contacts')).body.data as Record<string, unknown>[];

inBrowser('imports', () => {
  test('columns are mapped by name, fields are created on request, and a dry run saves nothing', async () => {
    const api = await testApi();
    await startTestWorker();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/imports');
    await page.getByRole('link', { name: 'Import contacts' }).first().click();
    await page.getByText('Drop a CSV file here').waitFor();
    await page.getByRole('button', { name: 'Choose a file' }).focus();
    expect(await accessibilityViolations(page)).toEqual([]);
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
    await chooser.setFiles(file(FILE));
    await page.getByText('5 columns, UTF-8').waitFor();
    const becomes = (column: string) => page.getByRole('combobox', { name: `${column} maps to` });
    await becomes('E-Mail').waitFor();
    expect(await becomes('E-Mail').inputValue()).toBe('Address');
    expect(await becomes('Vorname').inputValue()).toBe('Name');
    expect(await becomes('Nachname').inputValue()).toBe('Name');
    expect(await becomes('Stadt').inputValue()).toBe('Not imported');
    await page.getByText('London, New York; NY').waitFor();
    await page.getByRole('button', { name: 'Create fields for the other 2' }).click();
    expect(await becomes('Kunde seit').inputValue()).toBe('New field: Kunde seit (date)');
    await page.getByRole('combobox', { name: 'Add to group' }).fill('Customers');
    await page.getByRole('option', { name: 'New group' }).click();
    expect(await page.getByLabel('Group name').inputValue()).toBe('Customers');
    await page.getByRole('switch', { name: 'Do a dry run first' }).check();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Start dry run' }).click();

    await page.getByText('Completed', { exact: true }).waitFor();
    await page.getByText('Preview of 3 rows').waitFor();
    await page.getByRole('table', { name: 'Row errors' }).getByText('E-Mail', { exact: true }).waitFor();
    await page.getByRole('row', { name: 'Kunde seit Kunde seit Date, new field' }).waitFor();
    expect(await contacts(api)).toEqual([]);
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Import now' }).click();
    await page.getByText('Results').waitFor();
    await page.getByText('Completed', { exact: true }).waitFor();
    expect(await contacts(api)).toMatchObject([
      { email: 'grace@example.com', name: 'Grace Hopper', customFields: { stadt: 'New York; NY' } },
      { email: 'ada@example.com', name: 'Ada Lovelace', customFields: { stadt: 'London', kunde_seit: '2020-02-29' } },
    ]);
    await page.getByRole('link', { name: 'Customers' }).click();
    await page.getByText('2 members').waitFor();
  });

  test('columns of dates that become text say so, and rows that are rejected do not count', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/imports/new');
    const dates = ['2026-03-04', '04/03/2026'];
    const rows = Array.from({ length: 40 }, (_, index) => `a${index}@example.com,${dates[index % 2]},2026-03-04`);
    await choose(page, ['email,joined,left', ...rows, 'b@example.com,x,y,z', 'c@example.com,x,y,z,'].join('\n'));
    await page.getByRole('button', { name: 'Create fields for the other 2' }).click();
    const becomes = (column: string) => page.getByRole('combobox', { name: `${column} maps to` });
    await expect.poll(() => becomes('joined').inputValue()).toBe('New field: Joined (text)');
    expect(await becomes('left').inputValue()).toBe('New field: Left (date)');
    expect(await page.getByText('can’t compare these dates').count()).toBe(1);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('a file that was changed after it was chosen is not imported, and can be chosen again', async () => {
    const api = await testApi();
    const folder = await mkdtemp(join(tmpdir(), 'import-'));
    const path = join(folder, 'people.csv');
    await writeFile(path, 'email\nada@example.com\n');
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/imports/new');
    await page.locator('input[type=file]').setInputFiles(path);
    await page.getByText('1 column, UTF-8').waitFor();
    await writeFile(path, 'email\nada@example.com\ngrace@example.com\n');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('choose it again').waitFor();
    await page.getByRole('button', { name: 'Choose another file' }).click();
    await page.getByText('Drop a CSV file here').waitFor();
    await rm(folder, { recursive: true });
  });

  test('existing contacts stay unchanged unless the import is set to update them', async () => {
    const api = await testApi();
    await startTestWorker();
    await api.contact('ada@example.com', { name: 'Ada' });
    await using window = await windowOf(api);
    const { page } = window;
    for (const [choice, name] of [
      ['Keep unchanged', 'Ada'],
      ['Update with the file’s values', 'Countess'],
    ] as const) {
      await window.open('/imports/new');
      await choose(page, 'email\nada@example.com\n');
      await page.getByText('1 column, UTF-8').waitFor();
      await page.getByRole('button', { name: 'Choose another file' }).click();
      await choose(page, 'email,name\nada@example.com,Countess\n');
      await page.getByRole('radio', { name: choice }).check();
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      await page.getByText('Completed', { exact: true }).waitFor();
      expect(await contacts(api)).toMatchObject([{ name }]);
    }
    await window.open('/imports');
    await soon(() => page.getByRole('table', { name: 'Imports' }).locator('tbody tr').count()).toBe(2);
  });

  test('a missing option is added from the grouped errors by keyboard; the dry run is imported after a reload and has it', async () => {
    const api = await testApi();
    await startTestWorker();
    const plan = { key: 'plan', label: 'Plan', type: 'select', options: ['free'] };
    expect((await api.post('/v1/custom-fields', plan)).status).toBe(201);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/imports/new');
    await choose(page, 'email,plan\nada@example.com,pro\nbob@example.com,pro\neve@example.com,free\n');
    await page.getByRole('switch', { name: 'Do a dry run first' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Start dry run' }).focus();
    await page.keyboard.press('Enter');
    const causes = page.getByRole('region', { name: 'Errors by cause' });
    await causes.getByText('2 rows: Plan “pro” is not an option').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await causes.getByRole('button', { name: 'Add “pro”' }).focus();
    await page.keyboard.press('Enter');
    await causes.getByText('It is an option now. Import the file now to set it.').waitFor();
    expect(await causes.getByRole('button').count()).toBe(0);
    const { data } = (await api.get('/v1/custom-fields')).body;
    expect(data).toMatchObject([{ key: 'plan', options: ['free', 'pro'] }]);

    await page.reload();
    await page.getByText('Nothing was written').waitFor();
    expect(await contacts(api)).toEqual([]);
    const dryRun = page.url();
    await page.getByRole('button', { name: 'Import now' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.href !== dryRun);
    await page.getByText('Completed', { exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'Errors by cause' }).count()).toBe(0);
    expect(await contacts(api)).toMatchObject([
      { email: 'eve@example.com', customFields: { plan: 'free' } },
      { email: 'bob@example.com', customFields: { plan: 'pro' } },
      { email: 'ada@example.com', customFields: { plan: 'pro' } },
    ]);
    await page.goto(dryRun);
    await page.getByRole('link', { name: 'see that import' }).click();
    await page.getByText('Results').waitFor();
  });

  test('a missing option is added by mouse, and the file must be imported again if it is not kept', async () => {
    const api = await testApi();
    await startTestWorker();
    await api.post('/v1/custom-fields', { key: 'plan', label: 'Plan', type: 'select', options: ['free'] });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/imports/new');
    await choose(page, 'email,plan\nada@example.com,pro\n');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('button', { name: 'Add “pro”' }).click();
    await page.getByText('It is an option now. Import the file again to set it.').waitFor();
  });

  test('row errors and contact lists can be downloaded, but only with permission', async () => {
    const api = await testApi();
    await startTestWorker();
    await api.contact('bob@example.com');
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/imports/new');
    await choose(page, 'email\nada@example.com\nnobody\n');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('Completed', { exact: true }).waitFor();
    expect(await saved(page, 'Download')).toMatch(/^\uFEFFline,field,message\r\n3,email,/);

    await window.open('/contacts?q=bob');
    await page.getByRole('link', { name: 'bob@example.com', exact: true }).waitFor();
    const list = await saved(page, 'Export these');
    // A byte order mark, without which Excel would misread names with accents.
    expect(list).toMatch(/^\uFEFFemail,name,/);
    expect(list).toContain('bob@example.com');
    expect(list).not.toContain('ada@example.com');

    const stranger = await signedIn(await testApi());
    const answer = await fetch(`${api.url}/app/downloads/${api.projectId}/contacts/export`, {
      headers: { Cookie: stranger.cookie },
    });
    expect(answer.status).toBe(403);
    const nobody = await fetch(`${api.url}/app/downloads/${api.projectId}/contacts/export`);
    expect(nobody.status).toBe(401);
  });
});

/** The file that a click on a link downloads. */
async function saved(page: Page, name: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name, exact: true }).click(),
  ]);
  return readFile(await download.path(), 'utf8');
}
