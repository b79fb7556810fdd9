import { newId, pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { accessibilityViolations, chooseByKeyboard, inBrowser, SCHEMES, SIZES, soon, windowOf } from './browser.ts';

/** Adds campaigns that were sent, the first of them first: number 1 is the oldest. */
async function addCampaigns(api: Api, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('cmp'));
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, status, subject, updated_at)
     SELECT id, $2, 'Campaign no. ' || at, 'completed', 'News', now() FROM unnest($1::text[]) WITH ORDINALITY AS t (id, at)`,
    [ids, api.projectId],
  );
  return ids;
}

inBrowser('a choice of records', () => {
  test('finds the oldest of very many campaigns by its name and with the keyboard, and shows it from then on', async () => {
    const api = await testApi();
    const [oldest = ''] = await addCampaigns(api, 1_100);
    const filter = { field: 'opened', op: 'ever' };
    const { id } = (await api.post('/v1/segments', { name: 'Readers', filter })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/segments/${id}`);
    const field = page.getByRole('combobox', { name: 'Campaign or template' });
    await field.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Campaign no. 1100' }).waitFor();
    const said = page.getByRole('status').filter({ hasText: 'There are more. Keep typing to find them.' });
    await said.waitFor();
    await page.keyboard.type('NO. 19');
    await page.getByRole('option', { name: 'Campaign no. 199', exact: true }).waitFor();
    await page.keyboard.type('xyz');
    await page.getByRole('status').filter({ hasText: 'Nothing found' }).waitFor();
    await field.fill('no. 1');
    await page.route('**/graphql', (route) => route.abort());
    await field.fill('no. 1 ');
    await field.fill('no. 1x');
    await page.getByRole('status').filter({ hasText: 'Could not load.' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    // Longer than a name with more digits.
    await pool.query(`UPDATE campaigns SET name = 'The first campaign' WHERE id = $1`, [oldest]);
    await field.fill('first cam');
    await page.getByRole('option', { name: 'The first campaign' }).waitFor();
    await chooseByKeyboard(page, 'The first campaign');
    await soon(() => field.inputValue()).toBe('The first campaign');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await api.get(`/v1/segments/${id}`)).body.data.filter).toMatchObject({ and: [{ campaignId: oldest }] });
    await page.reload();
    await soon(() => field.inputValue()).toBe('The first campaign');
    await pool.query('DELETE FROM campaigns WHERE id = $1', [oldest]);
    await page.reload();
    await soon(() => field.inputValue()).toBe('Deleted campaign');
  });

  test('has archived journeys, and names the chosen ones also when they are many', async () => {
    const api = await testApi();
    const create = async (name: string): Promise<string> => (await api.post('/v1/journeys', { name })).body.data.id;
    const first = await create('Welcome');
    for (let at = 1; at <= 60; at++) await create(`Journey no. ${at}`);
    await pool.query("UPDATE journeys SET status = 'archived' WHERE id = $1", [first]);
    const filter = { field: 'everInJourney', op: 'in', value: [first] };
    const { id } = (await api.post('/v1/segments', { name: 'Newcomers', filter })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/segments/${id}`);
    await page.getByText('Welcome (archived)').waitFor();
    const field = page.getByRole('combobox', { name: 'Value' });
    await field.fill('no. 1');
    await page.getByRole('option', { name: 'Journey no. 1', exact: true }).click();
    await page.getByText('Journey no. 1', { exact: true }).first().waitFor();
    await page.getByText('Welcome (archived)').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await api.get(`/v1/segments/${id}`)).body.data.filter.and[0].value).toHaveLength(2);
  });

  test.each(SCHEMES)('is accessible while it is open: %s', async (colorScheme) => {
    const api = await testApi();
    await addCampaigns(api, 60);
    const { id } = (await api.post('/v1/segments', { name: 'Readers', filter: { field: 'opened', op: 'ever' } })).body
      .data;
    await using window = await windowOf(api, 'owner', { colorScheme });
    const { page } = window;
    await window.open(`/segments/${id}`);
    for (const size of Object.values(SIZES)) {
      await page.setViewportSize(size);
      await page.getByRole('combobox', { name: 'Campaign or template' }).click();
      await page.getByRole('option', { name: 'Campaign no. 60' }).waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('heading', { level: 1 }).click();
    }
  });
});
