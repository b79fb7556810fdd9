import { pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { inBrowser, windowOf } from './browser.ts';

/** What a page does when its user returns to it. */
const RETURN = 'document.dispatchEvent(new Event("visibilitychange"))';

inBrowser('deleting a project', () => {
  test('is for its owners, who type its name; then no one has the project any more', async () => {
    const api = await testApi();
    await api.contact('ada@example.com');
    await pool.query(`UPDATE projects SET name = 'Spring sale' WHERE id = $1`, [api.projectId]);
    await using owners = await windowOf(api);
    await using admins = await windowOf(api, 'admin');
    await admins.open('/settings');
    await admins.page.getByRole('heading', { name: 'Retention' }).waitFor();
    expect(await admins.page.getByRole('button', { name: 'Delete project' }).count()).toBe(0);

    const { page } = owners;
    await owners.open('/settings');
    await page.getByRole('button', { name: 'Delete project' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete this project?' });
    await dialog.getByText('1 contact and 0 campaigns are deleted').waitFor();
    const button = dialog.getByRole('button', { name: 'Delete' });
    await dialog.getByRole('textbox').fill('Spring');
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('Spring sale');
    await button.click();
    await page.getByText('Spring sale is being deleted.').waitFor();
    await page.getByRole('heading', { name: 'Your projects' }).waitFor();
    await page.getByText('You are not a member of any project. Create one').waitFor();

    await admins.page.evaluate(RETURN);
    await admins.page.getByText('You are no longer a member of Spring sale, or it was deleted.').waitFor();
    await admins.page.getByText('You are not a member of any project. Ask').waitFor();
    expect(await admins.page.getByRole('button', { name: 'New project' }).count()).toBe(0);
    const { rows } = await pool.query('SELECT state FROM project_cells WHERE project_id = $1', [api.projectId]);
    expect(rows).toEqual([{ state: 'deleted' }]);

    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('Autumn sale');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Project Autumn sale. Switch project' }).waitFor();
  });
});
