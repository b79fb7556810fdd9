import { addUnwatchedDomain } from '@postroom/domains/testing';
import { pool } from '@postroom/platform';
import { signedIn, testApi } from '@postroom/testkit';
import type { Locator, Page, Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { cookiesOf, holdRequests, inBrowser, soon, windowOf } from './browser.ts';

/** Answers the questions of a page, and records them. */
function answerQuestions(page: Page): { asked: string[]; accepts: boolean } {
  const answers = { asked: [] as string[], accepts: false };
  page.on('dialog', (dialog) => {
    answers.asked.push(dialog.type() === 'beforeunload' ? 'beforeunload' : dialog.message());
    void (answers.accepts ? dialog.accept() : dialog.dismiss());
  });
  return answers;
}

const QUESTION = 'You have unsaved changes. Leave anyway?';

inBrowser('unsaved changes', () => {
  test('leaving a form by a link, back or a reload needs a confirmation; its own buttons need none', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/forms', { name: 'Footer', double_opt_in: false })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    const answers = answerQuestions(page);
    await window.open('/forms');
    const edit = async () => {
      await page.getByRole('link', { name: 'Footer' }).click();
      await page.getByRole('link', { name: 'Edit' }).click();
      await page.getByLabel('Title').fill('Get our news');
    };
    await edit();
    await page.getByRole('link', { name: 'Templates' }).click();
    await soon(() => answers.asked).toEqual([QUESTION]);
    await page.goBack();
    await soon(() => answers.asked).toEqual([QUESTION, QUESTION]);
    await page.evaluate('void setTimeout(() => location.reload())');
    await soon(() => answers.asked).toEqual([QUESTION, QUESTION, 'beforeunload']);
    expect(page.url()).toContain('/edit');
    expect(await page.getByLabel('Title').inputValue()).toBe('Get our news');
    answers.accepts = true;
    await page.getByRole('link', { name: 'Templates' }).click();
    await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
    expect(answers.asked.splice(0)).toHaveLength(4);

    await page.getByRole('link', { name: 'Forms' }).click();
    await edit();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Footer', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Title').fill('Our newsletter');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Form saved.').waitFor();
    await page.getByRole('heading', { name: 'Footer', level: 1 }).waitFor();
    expect(answers.asked).toEqual([]);
    expect((await api.get(`/v1/forms/${id}`)).body.data.title).toBe('Our newsletter');
  });

  test('every form asks, several forms on a page ask once, and a dialog that opens the record it created does not', async () => {
    const api = await testApi();
    const ada = await api.contact('ada@example.com');
    const endpoint = { url: 'https://example.com/hook', events: ['*'] };
    const endpointId = (await api.post('/v1/webhooks', endpoint)).body.data.id;
    const { domain } = await addUnwatchedDomain(api.projectId, 'mail.example.com');
    await using window = await windowOf(api);
    const { page } = window;
    const answers = answerQuestions(page);
    const fill = async (label: string) => {
      await page.getByLabel(label, { exact: true }).first().fill('changed');
    };
    const forms: [string, () => Promise<void>][] = [
      ['/forms/new', () => fill('Name')],
      ['/webhooks/new', () => fill('Description')],
      [`/webhooks/${endpointId}/edit`, () => fill('Description')],
      ['/account', () => fill('Name')],
      ['/settings', () => fill('Name')],
      [
        `/contacts/${ada.id}`,
        async () => {
          await page.getByRole('button', { name: 'Edit' }).click();
          await fill('Name');
        },
      ],
      [
        '/imports/new',
        async () => {
          const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from('email\nada@example.com\n') };
          await page.locator('input[type=file]').setInputFiles(file);
          await page.getByRole('radio', { name: 'Skip the row' }).check();
        },
      ],
    ];
    for (const [path, change] of forms) {
      answers.accepts = true;
      await window.open(path);
      answers.asked.length = 0;
      await change();
      answers.accepts = false;
      await page.getByRole('link', { name: 'Templates' }).click();
      await soon(() => answers.asked, path).toEqual([QUESTION]);
    }
    answers.accepts = true;
    await window.open('/domains');
    await page.getByRole('link', { name: domain }).click();
    await page.getByRole('button', { name: 'Publish records' }).click();
    await page.getByRole('dialog').getByLabel('API token').fill('secret');
    answers.asked.length = 0;
    answers.accepts = false;
    await page.goBack();
    await soon(() => answers.asked).toEqual([QUESTION]);
    answers.accepts = true;
    await window.open('/account');
    await fill('Name');
    await fill('Current password');
    answers.asked.length = 0;
    await page.getByRole('link', { name: 'Templates' }).click();
    await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
    expect(answers.asked.splice(0)).toEqual([QUESTION]);

    await page.getByRole('button', { name: 'New template' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('Welcome');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Welcome', level: 1 }).waitFor();
    expect(answers.asked).toEqual([]);
  });

  test('closing a dialog with unsaved input by Escape, a click outside or its close button asks first', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    const answers = answerQuestions(page);
    await window.open('/templates');
    const open = page.getByRole('button', { name: 'New template' }).first();
    const dialog = page.getByRole('dialog', { name: 'New template' });
    const name = dialog.getByLabel('Name');
    const isFocused = (element: Locator) => element.evaluate((node) => node === node.ownerDocument.activeElement);
    await open.click();
    await soon(() => isFocused(name)).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(answers.asked).toEqual([]);

    await open.click();
    await name.fill('Welcome');
    await page.keyboard.press('Escape');
    await soon(() => answers.asked.splice(0)).toEqual([QUESTION]);
    expect(await isFocused(name)).toBe(true);
    await page.mouse.click(5, 5);
    await soon(() => answers.asked.splice(0)).toEqual([QUESTION]);
    await dialog.locator('.mantine-Modal-close').click();
    await soon(() => answers.asked.splice(0)).toEqual([QUESTION]);
    expect(await name.inputValue()).toBe('Welcome');

    let sent = false;
    const isCreation = (request: Request) => request.postData()?.includes('CreateTemplate') === true;
    const release = await holdRequests(page, '**/graphql', (request) => (sent ||= isCreation(request)));
    await name.press('Enter');
    await soon(() => sent).toBe(true);
    await page.keyboard.press('Escape');
    await soon(() => answers.asked.splice(0), 'while it is being saved').toEqual([QUESTION]);
    release();
    await page.getByRole('heading', { name: 'Welcome', level: 1 }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });

    await window.open('/templates');
    await open.click();
    await name.fill('Goodbye');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(answers.asked).toEqual([]);
    answers.accepts = true;
    await open.click();
    await name.fill('Goodbye');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await soon(() => isFocused(open)).toBe(true);
    expect(answers.asked).toEqual([QUESTION]);
  });

  test('the input of a form survives the end of the session, and can be saved after signing in again', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/forms', { name: 'Footer', double_opt_in: false })).body.data;
    await using window = await windowOf(api);
    const { page, context, person } = window;
    await window.open(`/forms/${id}/edit`);
    await page.getByLabel('Title').fill('Get our news');
    const cookies = await context.cookies();
    await context.clearCookies();
    // The dialog covers the button if another request was refused first.
    await page.getByRole('button', { name: 'Save' }).dispatchEvent('click');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    expect(await dialog.getByRole('link', { name: 'Sign in' }).getAttribute('target')).toBe('_blank');
    // As after a sign-in in the other tab.
    await context.addCookies(cookies);
    await page.evaluate('dispatchEvent(new Event("focus"))');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Title').inputValue()).toBe('Get our news');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Form saved.').waitFor();

    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Title').fill('Our newsletter');
    await pool.query('DELETE FROM sessions WHERE user_id = $1', [person.id]);
    await page.getByRole('button', { name: 'Save' }).dispatchEvent('click');
    await dialog.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a form that was saved, although the response was lost, does not conflict with what is typed afterwards', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/forms', { name: 'Footer', double_opt_in: false })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/forms/${id}/edit`);
    const title = page.getByLabel('Title');
    await title.fill('Get our news');
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('UpdateForm') !== true) return route.continue();
      await route.fetch({ url: `${api.url}/graphql` });
      await route.abort();
    });
    const save = page.getByRole('button', { name: 'Save' });
    await save.click();
    await page.getByText('It may have made the change').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await title.fill('Get all our news');
    await save.click();
    await page.getByText('Form saved.').waitFor();
    expect((await api.get(`/v1/forms/${id}`)).body.data.title).toBe('Get all our news');
  });

  test('someone else who signs in after the session has ended does not see the input of a form', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/forms', { name: 'Footer', double_opt_in: false })).body.data;
    const other = await signedIn(api, 'member');
    await using window = await windowOf(api);
    const { page, context } = window;
    const answers = answerQuestions(page);
    await window.open(`/forms/${id}/edit`);
    await page.getByLabel('Title').fill('Get our news');
    await context.clearCookies();
    // The dialog covers the button if another request was refused first.
    await page.getByRole('button', { name: 'Save' }).dispatchEvent('click');
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    // As after a sign-in in the other tab.
    await context.addCookies(cookiesOf(other.cookie));
    await page.evaluate('dispatchEvent(new Event("focus"))');
    await soon(() => page.getByLabel('Title').inputValue()).toBe('Footer');
    expect(answers.asked).toEqual([]);
  });
});
