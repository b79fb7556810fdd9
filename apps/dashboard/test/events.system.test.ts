import { pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { accessibilityViolations, inBrowser, soon, windowOf } from './browser.ts';

/** Two contacts with an order each, whose totals are of different types. */
async function tracked(api: Api) {
  const ada = await api.contact('ada@example.com', { name: 'Ada Lovelace' });
  const bob = await api.contact('bob@example.com');
  await api.post('/v1/events', {
    events: [
      { name: 'order placed', contact_id: ada.id, properties: { total: 49.9 } },
      { name: 'order placed', contact_id: bob.id, properties: { total: 'free', note: 'x'.repeat(300) } },
    ],
  });
  return { ada, bob };
}

const definitionOf = async (api: Api) => (await api.get('/v1/event-definitions')).body.data[0];

inBrowser('custom events', () => {
  test('a name shows its daily counts, conflicts and latest events, which lead to their contacts', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/events');
    await page.getByText('No events yet').waitFor();
    const { ada } = await tracked(api);
    await page.reload();
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'order placed' }) });
    await row.getByText('Type conflict').waitFor();
    await row.getByRole('cell', { name: '2', exact: true }).first().waitFor();
    await row.getByRole('link').click();
    await page.getByText('2 in the last 30 days, by day in UTC.').waitFor();
    await page.getByText('Show as a table').click();
    await soon(() => page.getByRole('table', { name: 'Events by day' }).getByRole('row').count()).toBe(31);
    await page.getByRole('table', { name: 'Properties' }).getByText('Number, Text').waitFor();

    const latest = page.getByRole('table', { name: 'Latest events' });
    await page.getByRole('searchbox', { name: 'Contact’s full address' }).fill('ADA@example.com');
    await soon(() => latest.getByRole('link').allTextContents()).toEqual(['Ada Lovelace']);
    expect(await page.evaluate('scrollY'), 'a filter leaves the page where it is').toBeGreaterThan(0);
    await page.getByRole('searchbox', { name: 'Contact’s full address' }).fill('nobody@example.com');
    await page.getByText('No matching events').waitFor();
    await page.getByRole('button', { name: 'Clear search' }).click();
    await page.getByRole('combobox', { name: 'Period' }).click();
    await page.getByRole('option', { name: 'Last 7 days' }).click();
    await page.getByRole('button', { name: /^Remove filter Occurred since/ }).click();
    await soon(() => latest.getByRole('link').count()).toBe(2);
    await latest.getByRole('link', { name: 'Ada Lovelace' }).click();
    await page.waitForURL(`**/contacts/${ada.id}`);
    await page.getByText('total: 49.9').waitFor();
    await page.getByText('Source: API').waitFor();
  });

  test('a name and its properties are described, declared, locked and removed by keyboard', async () => {
    const api = await testApi();
    const { bob } = await tracked(api);
    const { id } = await definitionOf(api);
    await using window = await windowOf(api);
    const { page } = window;
    const press = async (name: string) => {
      await soon(() => page.getByRole('dialog').count()).toBe(0);
      await page.getByRole('button', { name }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
    };
    await window.open(`/events/${id}`);
    await press('Edit description');
    await page.getByRole('textbox', { name: 'Description' }).fill('A paid order');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText('A paid order').waitFor();

    await press('Edit total');
    await page.getByRole('textbox', { name: 'Default' }).fill('nothing');
    await page.keyboard.press('Enter');
    await page.getByText('Enter JSON, such as 0 or "none"').waitFor();
    await page.getByRole('textbox', { name: 'Default' }).fill('true');
    await page.keyboard.press('Enter');
    await page.getByText('must be of type number or string').waitFor();
    await page.getByRole('textbox', { name: 'Default' }).fill('0');
    await page.keyboard.press('Enter');
    await soon(async () => (await definitionOf(api)).properties[1]).toMatchObject({ name: 'total', defaultValue: 0 });

    await press('Remove note');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).press('Enter');
    await soon(async () => (await definitionOf(api)).properties.length).toBe(1);

    await press('Lock schema');
    await page.getByRole('dialog').getByRole('button', { name: 'Lock' }).press('Enter');
    await page.getByRole('button', { name: 'Unlock schema' }).waitFor();
    const rejected = await api.post('/v1/events', {
      name: 'order placed',
      contact_id: bob.id,
      properties: { note: 1 },
    });
    expect(rejected.status).toBe(400);

    await page.getByRole('button', { name: 'More for order placed' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
    await page.getByRole('dialog').getByRole('textbox').fill('order placed');
    await page.keyboard.press('Enter');
    await page.getByText('No events yet').waitFor();
    const { rows } = await pool.query('SELECT id FROM custom_events WHERE project_id = $1', [api.projectId]);
    expect(rows).toHaveLength(2);
  });

  test('a viewer is offered no changes', async () => {
    const api = await testApi();
    await tracked(api);
    await using window = await windowOf(api, 'viewer');
    const { page } = window;
    await window.open(`/events/${(await definitionOf(api)).id}`);
    await page.getByRole('table', { name: 'Properties' }).waitFor();
    expect(await page.getByRole('button', { name: /Edit|Remove|Lock|More for/ }).count()).toBe(0);
  });
});
