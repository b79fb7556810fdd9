import { addLocalDomain } from '@postroom/domains';
import { pool } from '@postroom/platform';
import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import {
  accessibilityViolations,
  expectAccessible,
  inBrowser,
  openWindow,
  SCHEMES,
  SIZES,
  soon,
  windowOf,
} from './browser.ts';

/** The path of the link in the latest email of a project. */
async function linkIn(projectId: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ text: string }>(
    `SELECT c.text FROM messages m JOIN message_contents c ON c.message_id = m.id WHERE m.project_id = $1 ORDER BY m.id DESC LIMIT 1`,
    [projectId],
  );
  return /\/f\/confirm\/\S+/.exec(rows[0]?.text ?? '')?.[0];
}

inBrowser('forms', () => {
  test('a form is created by mouse, filled in and confirmed by keyboard, and lists its subscriber', async () => {
    const api = await testApi();
    await addLocalDomain(api.projectId, 'example.com');
    const ada = await api.contact('first@example.net');
    await api.post('/v1/groups', { name: 'Readers', contact_ids: [ada.id] });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/forms');
    await page.getByRole('link', { name: 'New form' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Footer');
    await page.getByLabel('Title').fill('Get our news');
    await page.getByRole('combobox', { name: 'Groups' }).click();
    await page.getByRole('option', { name: 'Readers' }).click();
    await page.getByLabel('Consent').fill('I agree.');
    await page.getByRole('button', { name: 'Create form' }).click();
    await page.getByText('Enter the sender of the email').waitFor();
    await page.getByRole('combobox', { name: 'From' }).fill('Acme <news@example.com>');
    await page.getByRole('button', { name: 'Create form' }).click();
    await page.getByRole('heading', { name: 'Footer', level: 1 }).waitFor();
    const url = await page.getByRole('link', { name: 'Open page' }).getAttribute('href');

    await using visit = await openWindow(api);
    const { page: form } = visit;
    const { keyboard } = form;
    await form.goto(new URL(url ?? '').pathname);
    await form.getByRole('heading', { name: 'Get our news' }).waitFor();
    await form.waitForTimeout(2_100); // faster than a person, it would be asked again
    await keyboard.press('Tab');
    await keyboard.type('ada@example.net');
    await keyboard.press('Tab');
    await keyboard.press('Space');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await form.getByRole('heading', { name: 'Please check your inbox' }).waitFor();
    await soon(() => linkIn(api.projectId)).toBeDefined();
    await form.goto((await linkIn(api.projectId)) ?? '');
    await form.getByText('I agree.').waitFor();
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await form.getByRole('heading', { name: 'You are subscribed' }).waitFor();

    // The page in the other window follows.
    await page.getByRole('table', { name: 'Submissions' }).getByRole('link', { name: 'ada@example.net' }).click();
    await page.getByText('Subscribed with a form').waitFor();
    await page.getByText(/Footer · from .*“I agree\.”/).waitFor();
  });

  test('a form is edited', async () => {
    const api = await testApi();
    const fields = [{ key: 'name', required: true }];
    const { id } = (await api.post('/v1/forms', { name: 'Footer', double_opt_in: false, fields })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/forms/${id}/edit`);
    await page.getByLabel('Title').fill('Get our news');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Form saved.').waitFor();
    await page.getByRole('heading', { name: 'Footer', level: 1 }).waitFor();
    expect((await api.get(`/v1/forms/${id}`)).body.data).toMatchObject({ title: 'Get our news', fields });
  });

  test('an edit keeps what another user saved meanwhile, and asks which of two texts of a field stays', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/forms', { name: 'Footer', double_opt_in: false })).body.data;
    const path = `/v1/forms/${id}`;
    const read = async () => (await api.get(path)).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/forms/${id}/edit`);
    await page.getByLabel('Title').fill('Get our news');
    expect((await api.patch(path, { description: 'Monthly.' })).status).toBe(200);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Form saved.').waitFor();
    await soon(read).toMatchObject({ title: 'Get our news', description: 'Monthly.' });

    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Title').fill('Mine');
    expect((await api.patch(path, { title: 'Theirs' })).status).toBe(200);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Conflicting changes: title.').waitFor();
    expect((await read()).title).toBe('Theirs');
    await page.getByRole('button', { name: 'Show theirs' }).click();
    await soon(() => page.getByLabel('Title').inputValue()).toBe('Theirs');
    await page.getByRole('button', { name: 'Show mine' }).click();
    await soon(() => page.getByLabel('Title').inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await soon(async () => (await read()).title).toBe('Mine');
  });

  test('the public pages are accessible in both color schemes and sizes, also with errors', async () => {
    const api = await testApi();
    await api.post('/v1/custom-fields', { key: 'plan', label: 'Plan', type: 'select', options: ['free', 'pro'] });
    const fields = [{ key: 'name', required: true }, { key: 'custom_fields.plan' }];
    const { body } = await api.post('/v1/forms', {
      name: 'News',
      double_opt_in: false,
      fields,
      consent_text: 'I agree.',
    });
    for (const colorScheme of SCHEMES) {
      for (const size of Object.values(SIZES)) {
        await using window = await openWindow(api, undefined, { ...size, colorScheme });
        const { page } = window;
        await page.goto(`/f/${body.data.id}`);
        expect(await accessibilityViolations(page), `${colorScheme}, ${size.width}`).toEqual([]);
        // Without the checks of the browser, and too fast.
        await page.evaluate('document.forms[0].noValidate = true');
        await page.getByRole('button', { name: 'Subscribe' }).click();
        await page.getByRole('alert').waitFor();
        expect(await accessibilityViolations(page), `${colorScheme}, ${size.width}, errors`).toEqual([]);
        const scrolls = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
        expect(await page.evaluate(scrolls)).toBe(false);
      }
    }
  });

  test('a browser submits an address beyond ASCII, and none that is empty', async () => {
    const api = await testApi();
    const { body } = await api.post('/v1/forms', { name: 'News', double_opt_in: false });
    await using window = await openWindow(api);
    const { page } = window;
    await page.goto(`/f/${body.data.id}`);
    const isValid = () => page.evaluate('document.forms[0].checkValidity()');
    expect(await isValid()).toBe(false);
    await page.getByLabel('Email').fill('用户@example.net');
    expect(await isValid()).toBe(true);
  });

  test('the pages of the dashboard are accessible', async () => {
    const api = await testApi();
    const owner = await signedIn(api);
    const { body } = await api.post('/v1/forms', { name: 'News', double_opt_in: false, fields: [{ key: 'name' }] });
    await expectAccessible(api, owner, '/forms', 'News');
    await expectAccessible(api, owner, `/forms/${body.data.id}`, 'No submissions yet');
    await expectAccessible(api, owner, `/forms/${body.data.id}/edit`, 'Double opt-in');
  });
});
