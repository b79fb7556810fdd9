import { pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import type { FrameLocator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { inBrowser, accessibilityViolations, soon, type Window, windowOf } from './browser.ts';
import { readyProject } from './ready-project.ts';

/** Fills in the name of a new template. */
async function startTemplate({ page, open }: Window): Promise<void> {
  await open('/templates');
  await page.getByRole('button', { name: 'New template' }).first().click();
  await page.getByLabel('Name').fill('Monthly newsletter');
}

/** Creates the template and returns the frame of its preview. */
async function createTemplate(page: Page): Promise<FrameLocator> {
  await page.getByRole('button', { name: 'Create' }).click();
  const preview = page.frameLocator('iframe[title]');
  await preview.getByText('Hello Ada Lovelace,').waitFor();
  return preview;
}

inBrowser('templates and campaigns', () => {
  test('a template is written with a live preview and placeholders, and published', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await startTemplate(window);
    const preview = await createTemplate(page);

    const editor = page.getByRole('textbox', { name: 'HTML' });
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('<h1>Autumn</h1><p>For ');
    await page.getByRole('button', { name: 'Insert a placeholder' }).click();
    await page.getByRole('menuitem', { name: /^Address/ }).click();
    await preview.getByText('For ada@example.com').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Published', { exact: true }).waitFor();
    const { body } = await api.get('/v1/templates');
    expect(body.data[0]).toMatchObject({ name: 'Monthly newsletter', status: 'published' });
    expect(body.data[0].body).toContain('<p>For {{email}}');
  });

  test('conditions and filters are inserted by mouse and keyboard, previewed, and errors lead to their line and column', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await startTemplate(window);
    const preview = await createTemplate(page);
    const editor = page.getByRole('textbox', { name: 'HTML' });
    const write = async (text: string) => {
      await editor.click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text);
    };
    const insert = page.getByRole('button', { name: 'Insert a placeholder' });
    await write('<p>Total: ');
    await insert.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: /^Amount/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menuitem', { name: /^Amount/ }).waitFor({ state: 'detached' });
    await soon(() => insert.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: /^Amount/ }).waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await preview.getByText('Total: €9.50').waitFor();
    // The cursor is after what was inserted.
    await page.keyboard.insertText('</p><p>Dear ');
    await insert.click();
    await page.getByRole('menuitem', { name: /^Condition/ }).click();
    await preview.getByText('Dear …').waitFor();
    expect(await editor.textContent()).toContain('{% if name %}…{% else %}…{% endif %}');
    expect(await accessibilityViolations(page)).toEqual([]);

    await write('<p>\nHello {% if name %}{{name}}</p>');
    const problem = page.getByRole('button', { name: 'Line 2, column 7' });
    await problem.waitFor();
    await page.locator('.cm-lint-marker-error').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await problem.focus();
    await page.keyboard.press('Enter');
    await page.locator('.cm-activeLine', { hasText: /^Hello/ }).waitFor();
    await page.getByRole('button', { name: 'Publish' }).click();
    await page
      .getByRole('alert')
      .getByText(/line 2, column 7/)
      .waitFor();

    await write('<p>Hello {% if name %}{{name | upcase}}{% else %}you{% endif %}</p>');
    await preview.getByText('Hello ADA LOVELACE').waitFor();
    await soon(() => problem.count()).toBe(0);
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Published', { exact: true }).waitFor();
  });

  test('the previous preview stays visible while the next one loads', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/templates', { name: 'Letter', body: '<p>Before</p>' })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/templates/${id}`);
    const preview = page.frameLocator('iframe[title]');
    await preview.getByText('Before').waitFor();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: allowed, resolve: allow } = Promise.withResolvers<void>();
    await page.route('**/app/preview', async (route) => {
      ask();
      await allowed;
      await route.continue();
    });
    await page.getByRole('textbox', { name: 'HTML' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('<p>After</p>');
    await asked;
    expect(await preview.getByText('Before').isVisible()).toBe(true);
    allow();
    await preview.getByText('After').waitFor();
    await soon(() => page.locator('iframe').count()).toBe(1);
  });

  test('an MJML template marks errors at their line and previews the compiled HTML', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await startTemplate(window);
    await page.getByRole('radio', { name: 'MJML' }).check();
    expect(await accessibilityViolations(page)).toEqual([]);
    const preview = await createTemplate(page);

    const editor = page.getByRole('textbox', { name: 'MJML' });
    const write = async (text: string) => {
      await editor.click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text);
    };
    const letter = (inside: string) =>
      `<mjml>\n<mj-body>\n<mj-section><mj-column>\n${inside}\n</mj-column></mj-section>\n</mj-body>\n</mjml>`;
    await write(letter('<mj-text>Autumn</mj-text>\n<mj-nope />'));
    await page.getByText(/mj-nope doesn't exist/).waitFor();
    await page.locator('.cm-lint-marker-error').waitFor();
    expect(await preview.getByText('Hello Ada Lovelace,').isVisible()).toBe(true);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Line 5' }).click();
    await page.locator('.cm-activeLine', { hasText: /^<mj-nope \/>$/ }).waitFor();
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page
      .getByRole('alert')
      .getByText(/line 5, mj-nope/)
      .waitFor();

    await write(letter('<mj-text>Winter for {{name}}</mj-text>'));
    await preview.getByText('Winter for Ada Lovelace').waitFor();
    await soon(() => page.locator('.cm-lint-marker-error').count()).toBe(0);
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Published', { exact: true }).waitFor();
    const { body } = await api.get('/v1/templates');
    expect(body.data[0]).toMatchObject({
      status: 'published',
      format: 'mjml',
      source: expect.stringMatching(/Winter/),
    });
    expect(body.data[0].body).not.toContain('mj-text');
  });

  test('an MJML campaign stays MJML until its author converts it to HTML', async () => {
    const api = await readyProject();
    const source =
      '<mjml><mj-body><mj-section><mj-column><mj-text>Snow for {{name|you}}</mj-text></mj-column></mj-section></mj-body></mjml>';
    const { id } = (await api.post('/v1/campaigns', { name: 'News', html: source, format: 'mjml' })).body.data;
    const now = async () => (await api.get(`/v1/campaigns/${id}`)).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.frameLocator('iframe[title]').getByText('Snow for Ada Lovelace').waitFor();
    await page.getByRole('textbox', { name: 'Subject' }).fill('Winter');
    await soon(async () => (await now()).subject).toBe('Winter');
    expect(await now()).toMatchObject({ format: 'mjml', source });

    await page.getByRole('textbox', { name: 'MJML' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(source.replace('Snow', 'Ice'));
    await page.frameLocator('iframe[title]').getByText('Ice for Ada Lovelace').waitFor();
    await soon(async () => (await now()).source).toBe(source.replace('Snow', 'Ice'));

    await page.getByText('Own HTML', { exact: true }).click();
    await page.getByRole('dialog').getByText('Convert to HTML?').waitFor();
    expect((await now()).format).toBe('mjml');
    await page.getByRole('dialog').getByRole('button', { name: 'Convert to HTML' }).click();
    await soon(async () => (await now()).format).toBe('html');
    expect(await now()).toMatchObject({ source: null, html: expect.stringContaining('Ice for {{name|you}}') });
  });

  test('custom MJML content survives browsing templates', async () => {
    const api = await readyProject();
    await api.post('/v1/templates', { name: 'Letter', body: '<p>Letter</p>' });
    const { id } = (await api.post('/v1/campaigns', { name: 'News' })).body.data;
    const now = async () => (await api.get(`/v1/campaigns/${id}`)).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByText('Own MJML', { exact: true }).click();
    await page.frameLocator('iframe[title]').getByText('Hello Ada Lovelace,').waitFor();
    await soon(async () => (await now()).format).toBe('mjml');
    await page.getByText('Template', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Subject' }).fill('Winter');
    await soon(async () => (await now()).subject).toBe('Winter');
    expect(await now()).toMatchObject({ format: 'mjml', templateId: null, source: expect.stringContaining('<mjml') });
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'Letter' }).click();
    await soon(async () => (await now()).html).toBe(null);
  });

  test('template versions are listed, previewed and restored', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/templates', { name: 'Letter', body: '<p>First words</p>' })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/templates/${id}`);
    await page.getByText(/^Version 1, saved/).waitFor();
    await page.getByRole('textbox', { name: 'HTML' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('<p>Second words</p>');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText(/^Version 2, saved/).waitFor();

    await page.getByRole('link', { name: 'Versions' }).click();
    const row = (text: string) => page.getByRole('row').filter({ hasText: text });
    await row('2, newest').getByText('A Person').waitFor();
    await page.setViewportSize({ width: 1000, height: 900 });
    const isCut = `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('.table-scroll'))`;
    expect(await page.evaluate(isCut)).toBe(false);
    await page.frameLocator('iframe[title]').getByText('Second words').waitFor();
    await page.getByRole('link', { name: '1', exact: true }).click();
    await page.frameLocator('iframe[title]').getByText('First words').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.reload();
    await page.frameLocator('iframe[title]').getByText('First words').waitFor();
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByText(/^Version 3, saved/).waitFor();
    await page.frameLocator('iframe[title]').getByText('First words').waitFor();
    expect((await api.get(`/v1/templates/${id}`)).body.data).toMatchObject({ version: 3, body: '<p>First words</p>' });
  });

  test('a published template is renamed at once, and its other changes are a draft', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/templates', { name: 'Letter', body: '<p>First words</p>' })).body.data;
    await api.post(`/v1/templates/${id}/publish`);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/templates/${id}`);
    for (const [field, told] of [
      ['Name', 'Saved.'],
      ['Subject', 'Saved as a draft. Publish it to send it.'],
    ] as const) {
      await page.getByRole('textbox', { name: field }).fill('Winter');
      await page.getByRole('button', { name: 'Save draft' }).click();
      await page.getByText(told, { exact: true }).waitFor();
    }
  });

  test('a template conflict names the other editor and lets the user keep her version', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/templates', { name: 'Letter', body: '<p>First words</p>' })).body.data;
    const now = async () => (await api.get(`/v1/templates/${id}`)).body.data;
    await using ada = await windowOf(api);
    await using bob = await windowOf(api);
    for (const each of [ada, bob]) await each.open(`/templates/${id}`);
    await ada.page.getByRole('textbox', { name: 'Subject' }).fill('Mine');
    await bob.page.getByRole('textbox', { name: 'Subject' }).fill('Theirs');
    await bob.page.getByRole('button', { name: 'Save draft' }).click();
    await bob.page.getByText(/^Version 2, saved/).waitFor();
    await ada.page.getByRole('button', { name: 'Save draft' }).click();
    const alert = ada.page.getByRole('alert');
    await alert.getByText(/A Person saved this/).waitFor();
    await alert.getByText('Conflicting changes: subject.').waitFor();
    expect(await accessibilityViolations(ada.page)).toEqual([]);
    expect(await now()).toMatchObject({ subject: 'Theirs', version: 2 });
    await alert.getByRole('button', { name: 'Keep mine' }).click();
    await ada.page.getByText(/^Version 3, saved/).waitFor();
    await soon(() => alert.count()).toBe(0);
    expect(await now()).toMatchObject({ subject: 'Mine', version: 3 });
  });

  test('edits to different parts of a template are merged', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/templates', { name: 'Letter', body: '<p>First words</p>' })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/templates/${id}`);
    await page.getByRole('textbox', { name: 'Subject' }).fill('Mine');
    await api.patch(`/v1/templates/${id}`, { body: '<p>Theirs</p>' });
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText(/^Version 3, saved/).waitFor();
    await page.frameLocator('iframe[title]').getByText('Theirs').waitFor();
    expect((await api.get(`/v1/templates/${id}`)).body.data).toMatchObject({ subject: 'Mine', body: '<p>Theirs</p>' });
  });

  test('a template is duplicated as a draft; a second copy needs another name', async () => {
    const api = await testApi();
    const source =
      '<mjml><mj-body><mj-section><mj-column><mj-text>Snow</mj-text></mj-column></mj-section></mj-body></mjml>';
    const letter = { name: 'Letter', subject: 'Winter', body: source, format: 'mjml' };
    const { id } = (await api.post('/v1/templates', letter)).body.data;
    await api.post(`/v1/templates/${id}/publish`);
    await using window = await windowOf(api);
    const { page } = window;
    const duplicate = async () => {
      await window.open(`/templates/${id}`);
      await page.getByRole('button', { name: /^More for / }).click();
      await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    };
    await duplicate();
    await page.getByRole('heading', { level: 1, name: 'Letter (copy)' }).waitFor();
    await page.frameLocator('iframe[title]').getByText('Snow').waitFor();
    const [copy] = (await api.get('/v1/templates')).body.data;
    expect(copy).toMatchObject({ name: 'Letter (copy)', subject: 'Winter', source, format: 'mjml', status: 'draft' });
    expect(page.url()).toContain(copy.id);
    await duplicate();
    await page.getByText('A template named "Letter (copy)" already exists.').waitFor();
    expect((await api.get('/v1/templates')).body.data).toHaveLength(2);
    // The name of a copy is cut, here within an emoji.
    await api.patch(`/v1/templates/${id}`, { name: `${'x'.repeat(189)}😀😀` });
    await duplicate();
    await page.getByRole('heading', { level: 1, name: /^x{189}\ufffd \(copy\)$/ }).waitFor();
  });

  test('concurrent campaign edits merge, and conflicts ask which to keep', async () => {
    const api = await readyProject();
    const { id } = (await api.post('/v1/campaigns', { name: 'News' })).body.data;
    const now = async () => (await api.get(`/v1/campaigns/${id}`)).body.data;
    await using ada = await windowOf(api);
    await using bob = await windowOf(api);
    for (const each of [ada, bob]) await each.open(`/campaigns/${id}`);
    const subject = (of: typeof ada) => of.page.getByRole('textbox', { name: 'Subject' });
    await subject(ada).fill('From Ada');
    await ada.page.getByText(/^Saved/).waitFor();
    await bob.page.getByLabel('From name').fill('Bob');
    await soon(now).toMatchObject({ subject: 'From Ada', fromName: 'Bob' });
    await soon(() => subject(bob).inputValue()).toBe('From Ada');
    await bob.page.getByText(/^Saved/).waitFor();

    await subject(bob).fill('From Bob');
    await soon(async () => (await now()).subject).toBe('From Bob');
    await subject(ada).fill('From Ada, again');
    const alert = ada.page.getByRole('alert').filter({ hasText: 'A Person saved this' });
    await alert.getByText('Conflicting changes: subject.').waitFor();
    await ada.page.getByText('Not saved. See the error below.').waitFor();
    expect(await accessibilityViolations(ada.page)).toEqual([]);
    await alert.getByRole('button', { name: 'Show theirs' }).click();
    expect(await subject(ada).inputValue()).toBe('From Bob');
    await alert.getByRole('button', { name: 'Show mine' }).click();
    expect(await subject(ada).inputValue()).toBe('From Ada, again');
    expect((await now()).subject).toBe('From Bob');
    await alert.getByRole('button', { name: 'Keep mine' }).click();
    await soon(now).toMatchObject({ subject: 'From Ada, again', fromName: 'Bob' });
    await ada.page.getByText(/^Saved/).waitFor();
    expect(await alert.count()).toBe(0);
  });

  test('a user who takes the other version continues editing it', async () => {
    const api = await readyProject();
    const { id } = (await api.post('/v1/campaigns', { name: 'News', html: '<p>First</p>' })).body.data;
    const now = async () => (await api.get(`/v1/campaigns/${id}`)).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.frameLocator('iframe[title]').getByText('First').waitFor();
    await api.patch(`/v1/campaigns/${id}`, { html: '<p>Theirs</p>', subject: 'Autumn' });
    await page.getByRole('textbox', { name: 'HTML' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('<p>Mine</p>');
    const alert = page.getByRole('alert').filter({ hasText: 'saved this' });
    await alert.getByText('Conflicting changes: content.').waitFor();
    await alert.getByRole('button', { name: 'Show theirs' }).click();
    await page.frameLocator('iframe[title]').getByText('Theirs').waitFor();
    await alert.getByRole('button', { name: 'Show mine' }).click();
    await page.frameLocator('iframe[title]').getByText('Mine').waitFor();
    await alert.getByRole('button', { name: 'Show theirs' }).click();
    await alert.getByRole('button', { name: 'Use theirs' }).click();
    await alert.waitFor({ state: 'detached' });
    await page.frameLocator('iframe[title]').getByText('Theirs').waitFor();
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Autumn');
    await page.getByRole('textbox', { name: 'Subject' }).fill('Winter');
    await soon(now).toMatchObject({ html: '<p>Theirs</p>', subject: 'Winter' });
  });

  test('a campaign shows its tracking settings and can be duplicated', async () => {
    const api = await readyProject();
    const groups = await api.get('/v1/groups');
    const { id } = (
      await api.post('/v1/campaigns', {
        name: 'News',
        subject: 'News',
        from_email: 'news@example.com',
        html: '<p>News</p>',
        group_ids: [groups.body.data[0].id],
      })
    ).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByText('Opens and clicks are tracked.').waitFor();
    await page.getByRole('combobox', { name: 'Opens' }).click();
    await page.getByRole('option', { name: 'Not tracked', exact: true }).click();
    await page.getByText('Clicks are tracked; opens are not.').waitFor();
    expect((await api.get(`/v1/campaigns/${id}`)).body.data).toMatchObject({ trackOpens: false, trackClicks: null });
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
    await page.getByText('not tracked', { exact: true }).waitFor();
    await page.getByText('Clicks are tracked; opens are not.').waitFor();
    expect((await api.get(`/v1/campaigns/${id}`)).body.data).toMatchObject({ trackOpens: false, trackClicks: true });

    await page.getByRole('button', { name: 'More for News' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { level: 1, name: 'News (copy)' }).waitFor();
    const [copy] = (await api.get('/v1/campaigns')).body.data;
    expect(copy).toMatchObject({ name: 'News (copy)', status: 'draft', subject: 'News', trackOpens: false });
  });

  test('a preview runs no script and loads no remote images until asked', async () => {
    const api = await testApi();
    const html =
      '<p id="out">before</p><script>document.body.textContent = "ran"</script><img src="https://elsewhere.example/a.png">';
    const { body } = await api.post('/v1/templates', { name: 'Hostile', body: html });
    await using window = await windowOf(api);
    const { page } = window;
    const answered: string[] = [];
    page.on('requestfinished', (request) => answered.push(request.url()));
    await window.open(`/templates/${body.data.id}`);
    await page.frameLocator('iframe[title]').getByText('before').waitFor();
    await page.getByRole('button', { name: 'Load images' }).waitFor();
    await soon(() => window.problems.join()).toMatch(/Blocked script execution/);
    await soon(() => window.problems.join()).toMatch(/Loading the image .* violates/);
    expect(answered.filter((url) => url.includes('elsewhere.example'))).toEqual([]);
    // The browser is expected to report what it blocked.
    await page.goto('about:blank');
    window.problems.splice(0);
  });

  test('a campaign is written, reviewed, scheduled in a time zone and unscheduled', async () => {
    const api = await readyProject();
    const subject = 'Hello {{name|there}}';
    const { body: letter } = await api.post('/v1/templates', { name: 'Letter', subject, body: `<p>${subject}</p>` });
    await api.post(`/v1/templates/${letter.data.id}/publish`);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/campaigns');
    await page.getByRole('button', { name: 'New campaign' }).first().click();
    await page.getByLabel('Name').fill('December newsletter');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Required before sending').waitFor();
    // Labels, not API names.
    await page.getByText('Recipients must be at least one contact, in groups or segments').waitFor();
    expect(await page.getByRole('button', { name: 'Send now' }).isDisabled()).toBe(true);

    await page.getByRole('combobox', { name: 'From address' }).fill('news@example.com');
    await page.getByRole('combobox', { name: 'Groups' }).click();
    await page.getByRole('option', { name: 'Readers' }).click();
    await page.keyboard.press('Escape');
    await page.getByText('1 person would receive it now.').waitFor();
    await page.getByText('Excluded: 1 unsubscribed, of 2.').waitFor();
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'Letter' }).click();
    await page.frameLocator('iframe[title]').getByText('Hello Ada Lovelace').waitFor();
    await page.getByText('Ready to send.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe(subject);
    await page.getByRole('button', { name: 'Send test email' }).click();
    await page.getByRole('dialog').getByText('Without a contact, placeholders show their defaults.').waitFor();
    await page.keyboard.press('Escape');
    await soon(() => page.getByRole('dialog').count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Schedule' }).click();
    const day = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
    await page.getByLabel('Date and time').fill(`${day}T10:00`);
    await page.getByRole('combobox', { name: 'Time zone' }).click();
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Tokyo');
    await page.getByRole('option', { name: /^Asia\/Tokyo/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Schedule' }).click();
    await page.getByText('Scheduled', { exact: true }).waitFor();
    const { body } = await api.get('/v1/campaigns');
    expect(body.data[0].scheduledAt).toBe(`${day}T01:00:00.000Z`);

    await page.getByRole('button', { name: 'Unschedule' }).click();
    await page.getByRole('dialog').getByText('becomes a draft').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Unschedule' }).click();
    await page.getByText('Draft', { exact: true }).waitFor();
  });

  test('a campaign that could not start at its scheduled time can be edited again', async () => {
    const api = await readyProject();
    const { id } = (await api.post('/v1/campaigns', { name: 'Late news' })).body.data;
    const reason = 'The campaign could not start at its scheduled time. subject: is required.';
    await pool.query(`UPDATE campaigns SET status = 'paused', scheduled_at = now(), pause_reason = $2 WHERE id = $1`, [
      id,
      reason,
    ]);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByText(reason).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('Draft', { exact: true }).waitFor();
    await page.getByText('Required before sending').waitFor();
  });

  test('a change that was just saved is not in the future', async () => {
    const api = await readyProject();
    const groups = (await api.get('/v1/groups')).body.data;
    const letter = { subject: 'News', from_email: 'news@example.com', html: '<p>News</p>', group_ids: [groups[0].id] };
    const { id } = (await api.post('/v1/campaigns', { name: 'News', ...letter })).body.data;
    await using window = await windowOf(api, 'owner', { isFresh: true });
    const { page } = window;
    // The page compares with a time of up to ten seconds ago; here with an earlier one, which stays as it is.
    await page.addInitScript(`const { now } = Date;
      window.behind = 60_000;
      Date.now = () => now() - window.behind;
      const { setInterval: repeat } = window;
      window.setInterval = (run, ms) => (ms === 10_000 ? 0 : repeat(run, ms));`);
    await window.open(`/campaigns/${id}`);
    await page.getByText(/^Saved in /).waitFor();
    await page.evaluate('window.behind = 0');
    await page.getByRole('button', { name: 'Schedule' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Schedule' }).click();
    await page
      .getByText(/^It starts /)
      .first()
      .waitFor();
    await page.getByText(/^Saved (just now|\d+ seconds ago)\.$/).waitFor({ timeout: 5_000 });
  });

  test('campaign edits survive a reload, and errors show next to their field', async () => {
    const api = await readyProject();
    const { body } = await api.post('/v1/campaigns', { name: 'News' });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${body.data.id}`);
    await page.getByRole('textbox', { name: 'Subject' }).fill('Until Friday');
    await page.getByText(/^Saved/).waitFor();
    await expect
      .poll(async () => (await api.get(`/v1/campaigns/${body.data.id}`)).body.data.subject)
      .toBe('Until Friday');
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Until Friday');
    await page.getByRole('combobox', { name: 'From address' }).fill('not an address');
    await page.getByText('Not saved. See the error below.').waitFor();
    expect(await page.getByRole('combobox', { name: 'From address' }).getAttribute('aria-invalid')).toBe('true');
    await page.getByRole('combobox', { name: 'From address' }).fill('');
    await page.getByText(/^Saved/).waitFor();
  });

  test('a draft that could not be saved is saved once the server is reachable, and after signing in again', async () => {
    const api = await readyProject();
    const { id } = (await api.post('/v1/campaigns', { name: 'News', subject: 'News' })).body.data;
    await using window = await windowOf(api);
    const { page, context } = window;
    await window.open(`/campaigns/${id}`);
    const subject = async () => (await api.get(`/v1/campaigns/${id}`)).body.data.subject;
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('UpdateCampaign') === true ? route.abort() : route.continue(),
    );
    await page.getByRole('textbox', { name: 'Subject' }).fill('Spring');
    await page.getByText("Can't reach the server. Your changes are saved once it responds.").waitFor();
    // The message is far above the button.
    await page.getByRole('button', { name: 'Send test email' }).click();
    await soon(() => page.evaluate('scrollY')).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
    await soon(subject).toBe('Spring');
    await page.getByText("Can't reach the server.").waitFor({ state: 'detached' });

    const cookies = await context.cookies();
    await context.clearCookies();
    await page.getByRole('textbox', { name: 'Subject' }).fill('Summer');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await context.addCookies(cookies);
    await page.evaluate('dispatchEvent(new Event("focus"))');
    await dialog.waitFor({ state: 'detached' });
    await soon(subject).toBe('Summer');
  });

  test('a sending campaign is paused, resumed and canceled', async () => {
    const api = await readyProject();
    const groups = await api.get('/v1/groups');
    const { body } = await api.post('/v1/campaigns', {
      name: 'News',
      subject: 'News',
      from_email: 'news@example.com',
      html: '<p>News</p>',
      group_ids: [groups.body.data[0].id],
    });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${body.data.id}`);
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('dialog').getByText('News goes to 1 person.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
    await page.getByRole('main').getByText('Sending', { exact: true }).waitFor();
    // The button was at the end of the page; the progress is at its top.
    await page
      .getByRole('region', { name: 'Progress' })
      .getByText(/^(Preparing|Sending)/)
      .waitFor();
    await soon(() => page.evaluate('scrollY')).toBe(0);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('main').getByText('Sending', { exact: true }).waitFor();
    // A campaign with a low rate claims its messages long before it sends them.
    await pool.query('UPDATE campaigns SET recipient_count = 5, claimed_count = 3, accepted_count = 1 WHERE id = $1', [
      body.data.id,
    ]);
    await page.reload();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByText('Up to 4 recipients will not receive it.').waitFor();
    await page.getByRole('dialog').getByRole('textbox').fill('News');
    await page.getByRole('button', { name: 'Cancel campaign' }).click();
    await page.locator('.mantine-Badge-label', { hasText: 'Canceled' }).waitFor();
  });
});
