import { pool } from '@postroom/platform';
import { type Api, startTestWorker, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { accessibilityViolations, inBrowser, soon, windowOf } from './browser.ts';

async function people(count: number): Promise<Api> {
  const api = await testApi();
  await startTestWorker();
  await api.post('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
  const contacts = Array.from({ length: count }, (_, at) => ({
    email: `p${String(at).padStart(3, '0')}@example.com`,
    custom_fields: { city: at < 60 ? 'London' : 'Paris' },
  }));
  await api.post('/v1/contacts/batch', { contacts });
  return api;
}

const totalOf = async (api: Api, query = '') => (await api.get(`/v1/contacts?total=true&limit=1${query}`)).body.total;

inBrowser('many contacts at once', () => {
  test('all contacts that match a custom field are added to a new group, by mouse', async () => {
    const api = await people(70);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/contacts');
    await page.getByText('70 contacts', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('combobox', { name: 'Custom field' }).click();
    await page.getByRole('option', { name: 'City' }).click();
    await page.getByRole('textbox', { name: 'Value' }).fill('lond');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('60 contacts', { exact: true }).waitFor();
    await page.getByText('City contains “lond”').waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    await page.getByText('50 selected').waitFor();
    await page.getByRole('button', { name: 'Select all 60' }).click();
    await page.getByText('All 60 matching contacts are selected').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add to group' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Group' }).click();
    await page.getByRole('option', { name: 'New group' }).click();
    await dialog.getByLabel('Group name').fill('Londoners');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('60 contacts were added to the group.').waitFor();
    const { data } = (await api.get('/v1/groups')).body;
    expect(data).toMatchObject([{ name: 'Londoners', contactCount: 60 }]);
  });

  test('contacts are selected, unsubscribed and deleted by keyboard, after typing their number', async () => {
    const api = await people(3);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/contacts');
    await page.getByRole('checkbox', { name: 'Select p002@example.com' }).focus();
    await page.keyboard.press('Space');
    await page.getByText('1 selected').waitFor();
    await page.getByRole('button', { name: 'Unsubscribe' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('recorded as your action').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await soon(() => page.evaluate('document.activeElement.textContent')).toBe('Unsubscribe');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Unsubscribe' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('1 contact was unsubscribed.').waitFor();
    const { data } = (await api.get('/v1/suppressions')).body;
    expect(data).toMatchObject([{ email: 'p002@example.com', origin: 'user' }]);

    await page.getByRole('checkbox', { name: 'Select all on this page' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Delete' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('textbox').fill('3');
    await page.keyboard.press('Enter');
    await page.getByText('3 contacts were deleted.').waitFor();
    expect(await totalOf(api)).toBe(0);
  });

  test('what is running is shown after a reload, and its result once it has ended', async () => {
    const api = await people(3);
    await using window = await windowOf(api);
    const { page } = window;
    const client = await pool.connect();
    try {
      // Nothing can be deleted while another transaction holds the rows.
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM contacts WHERE project_id = $1 FOR UPDATE', [api.projectId]);
      await window.open('/contacts');
      await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill('3');
      await page.keyboard.press('Enter');
      const running = page.getByText('Deleting: 0 of 3 contacts. You can leave this page.');
      await running.waitFor();
      await page.reload();
      await running.waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
    await page.getByText('3 contacts were deleted.').waitFor();
    expect(await totalOf(api)).toBe(0);
    await page.reload();
    await page.getByText('3 contacts were deleted.').waitFor();
  });

  test('the order is in the URL, and a view is saved, opened after a reload, and deleted', async () => {
    const api = await people(3);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/contacts');
    const columns = (expanded: boolean) => page.getByRole('button', { name: 'Choose columns', expanded });
    await columns(false).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitemcheckbox', { name: 'City' }).waitFor();
    await columns(true).waitFor();
    await page.keyboard.press('Escape');
    await columns(false).waitFor();
    await page.getByRole('combobox', { name: 'Sort' }).click();
    await page.getByRole('option', { name: 'Email, A to Z' }).click();
    await page.waitForURL(/sort=email/);
    await soon(() => page.locator('tbody a.covering').first().textContent()).toBe('p000@example.com');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save this view' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('By address');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('was saved').waitFor();

    await window.open('/contacts');
    await page.getByRole('button', { name: 'Views' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'By address', exact: true }).click();
    await page.waitForURL(/sort=email/);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Delete the view By address' }).click();
    await page.getByText('No saved views yet').waitFor();
  });

  test('a segment shows its size over time', async () => {
    const api = await people(3);
    const filter = { field: 'email', op: 'endsWith', value: '@example.com' };
    const { id } = (await api.post('/v1/segments', { name: 'Everyone', filter })).body.data;
    await pool.query('DELETE FROM segment_sizes WHERE segment_id = $1', [id]);
    await pool.query(
      `INSERT INTO segment_sizes SELECT $1, now()::date - days, 10 - days FROM generate_series(1, 5) AS days`,
      [id],
    );
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/segments/${id}`);
    await page
      .getByRole('figure', { name: 'Size over time' })
      .getByText(/^9 on .*, 5 on /)
      .waitFor();
    await page.locator('.chart-line').first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});
