import { pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { inBrowser, soon, windowOf } from './browser.ts';

const QUESTION = 'You have unsaved changes. Leave anyway?';

/** What a page does when its user returns to it. */
const RETURN = 'document.dispatchEvent(new Event("visibilitychange"))';

inBrowser('a page with unsaved changes', () => {
  test('says that its user is signed out, and Escape closes only that dialog, not the form below it', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, context } = window;
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.accept();
    });
    await window.open('/templates');
    await page.getByRole('button', { name: 'New template' }).first().click();
    const form = page.getByRole('dialog', { name: 'New template' });
    await form.getByLabel('Name').fill('Welcome');
    const cookies = await context.cookies();
    await context.clearCookies();
    // The dialog covers the button if another request was refused first.
    await form.getByRole('button', { name: 'Create' }).dispatchEvent('click');
    const ended = page.getByRole('dialog', { name: 'Your session has ended' });
    await ended.waitFor();
    await form.getByText('You are signed out. Sign in again, then repeat this.').waitFor();
    await page.keyboard.press('Escape');
    await ended.waitFor({ state: 'detached' });
    expect(asked).toEqual([]);
    expect(await form.getByLabel('Name').inputValue()).toBe('Welcome');
    // As after a sign-in in another tab.
    await context.addCookies(cookies);
    await page.evaluate(RETURN);
    await form.getByRole('alert').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    expect(asked).toEqual([QUESTION]);
  });

  test('keeps them when its user is removed from the project, and says so', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/templates', { name: 'Welcome', subject: 'Hello', body: '<p>Hi</p>' })).body
      .data;
    await using window = await windowOf(api, 'member');
    const { page, person } = window;
    await window.open(`/templates/${id}`);
    const subject = page.getByLabel('Subject');
    await subject.fill('Welcome to Rome');
    await pool.query('DELETE FROM members WHERE user_id = $1', [person.id]);
    await page.evaluate(RETURN);
    const dialog = page.getByRole('dialog', { name: 'Your access to this project has changed' });
    await dialog.getByRole('button', { name: 'Stay on this page' }).click();
    await dialog.waitFor({ state: 'detached' });
    // What the page reads by itself is refused again, which the user knows.
    const reloaded = page.waitForResponse((response) => response.request().postData()?.includes('query Me') === true);
    await page.evaluate(RETURN);
    await reloaded;
    await page.evaluate('new Promise(requestAnimationFrame)');
    expect(await dialog.count()).toBe(0);
    expect(await subject.inputValue()).toBe('Welcome to Rome');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await dialog.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
  });

  test('keeps them when its user may only read from now on, or when the record was deleted', async () => {
    const api = await testApi();
    const create = async (name: string): Promise<string> =>
      (await api.post('/v1/templates', { name, subject: 'Hello', body: '<p>Hi</p>' })).body.data.id;
    const [welcome, goodbye] = [await create('Welcome'), await create('Goodbye')];
    await using window = await windowOf(api, 'member');
    const { page, person } = window;
    const subject = page.getByLabel('Subject');
    await window.open(`/templates/${goodbye}`);
    await subject.fill('See you');
    await api.delete(`/v1/templates/${goodbye}`);
    await page.evaluate(RETURN);
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText('No such template in this project').waitFor();
    expect(await subject.inputValue()).toBe('See you');
    page.once('dialog', (dialog) => void dialog.accept());

    await window.open(`/templates/${welcome}`);
    await subject.fill('Welcome to Rome');
    await pool.query("UPDATE members SET role = 'viewer' WHERE user_id = $1", [person.id]);
    await page.getByRole('button', { name: 'Save draft' }).dispatchEvent('click');
    await page.getByRole('dialog').getByRole('button', { name: 'Stay on this page' }).click();
    expect(await subject.inputValue()).toBe('Welcome to Rome');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).click();
    await soon(() => subject.inputValue()).toBe('Hello');
    expect(await page.getByRole('button', { name: 'Save draft' }).count()).toBe(0);
  });
});

inBrowser('a page whose access or record has ended', () => {
  test.each(['/keys', '/sending', '/audit', '/notifications', '/imports/new', '/forms/new', '/webhooks/new'])(
    'is not shown to a viewer who has a link to it: %s',
    async (path) => {
      const api = await testApi();
      await using window = await windowOf(api, 'viewer');
      await window.open(path);
      await window.page.getByText('Your role in this project, viewer, does not include it.').waitFor();
      expect(await window.page.getByRole('main').getByRole('button').count()).toBe(0);
    },
  );

  test.each(['campaigns', 'journeys', 'templates', 'contacts', 'groups', 'domains', 'members'])(
    'opens no dialog for a viewer who has a link to a new record: %s',
    async (path) => {
      const api = await testApi();
      await using window = await windowOf(api, 'viewer');
      await window.open(`/${path}`);
      await soon(() => window.page.locator('[aria-busy=true]').count()).toBe(0);
      await window.page.evaluate(`location.hash = 'new'`);
      await window.page.waitForURL(/#new$/);
      expect(await window.page.getByRole('dialog').count()).toBe(0);
    },
  );

  test('stays open with what is typed when the role of its user changes', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'member');
    const { page, person } = window;
    await window.open('/webhooks/new');
    await page.getByLabel('URL').fill('https://example.com/hook');
    await pool.query("UPDATE members SET role = 'viewer' WHERE user_id = $1", [person.id]);
    await page.evaluate(RETURN);
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByText('Only members, admins and owners of this project may do this').waitFor();
    expect(await page.getByLabel('URL').inputValue()).toBe('https://example.com/hook');
    page.once('dialog', (dialog) => void dialog.accept());
  });

  test('leads a user who was removed to their projects, and Back does not lead to the project', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'member');
    const { page, person } = window;
    await window.open('/templates');
    await page.getByRole('navigation').getByRole('link', { name: 'Campaigns' }).click();
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
    await pool.query('DELETE FROM members WHERE user_id = $1', [person.id]);
    await page.evaluate(RETURN);
    await page.getByRole('heading', { name: 'Your projects' }).waitFor();
    await page.getByText('You are no longer a member of ').waitFor();
    await page.getByText('You are not a member of any project.').waitFor();
    await page.goBack();
    await page.getByText('There is no such project, or you are not a member of it.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
  });

  test.each([
    ['Templates', '/v1/templates', { name: 'Spring', subject: 'Hello', body: '<p>Hi</p>' }],
    ['Campaigns', '/v1/campaigns', { name: 'Spring' }],
    ['Segments', '/v1/segments', { name: 'Spring', filter: { field: 'email', op: 'contains', value: '@' } }],
    ['Groups', '/v1/groups', { name: 'Spring', emails: ['ada@example.com'] }],
  ])('is not what Back leads to after it was deleted: %s', async (list, path, body) => {
    const api = await testApi();
    await api.contact('ada@example.com');
    await api.post(path, body);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/');
    const heading = page.getByRole('heading', { name: list, level: 1 });
    await page.getByRole('navigation').getByRole('link', { name: list }).click();
    await page.getByRole('link', { name: 'Spring' }).click();
    await heading.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^More/ }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('Spring');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await heading.waitFor();
    await page.getByText('Spring was deleted.').waitFor();
    await page.goBack();
    await heading.waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  });
});
