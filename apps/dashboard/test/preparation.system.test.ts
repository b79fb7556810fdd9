import { pool } from '@postroom/platform';
import { addLocalDomain } from '@postroom/domains';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import {
  chooseByKeyboard,
  expectAccessible,
  inBrowser,
  accessibilityViolations,
  SIZES,
  soon,
  windowOf,
} from './browser.ts';
import { readyProject } from './ready-project.ts';

const DAY_MS = 86_400_000;

/** A project with a campaign to its readers that could be sent. */
async function readyCampaign(more: object = {}) {
  const api = await readyProject();
  const [group] = (await api.get('/v1/groups')).body.data;
  const content = {
    subject: 'News',
    from_email: 'news@example.com',
    html: '<p>Hello {{name|there}} in {{city|town}}</p>',
  };
  const reply = await api.post('/v1/campaigns', { name: 'News', ...content, group_ids: [group.id], ...more });
  const { id } = reply.body.data;
  return { api, id, group, now: async () => (await api.get(`/v1/campaigns/${id}`)).body.data };
}

inBrowser('preparing a campaign', () => {
  test('preview text, exclusions and UTM parameters are saved, and warnings lead to the postal address', async () => {
    const { api, id, now } = await readyCampaign({
      html: '<p>Write your message here.</p><a href="https://example.com/">Read more</a>',
    });
    const eve = await api.contact('eve@example.net');
    const { data: customers } = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [eve.id] })).body;
    const [readers] = (await api.get('/v1/groups')).body.data.filter(
      ({ name }: { name: string }) => name === 'Readers',
    );
    await api.post(`/v1/groups/${readers.id}/contacts`, { contact_ids: [eve.id] });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const warnings = page.getByRole('alert').filter({ hasText: 'Warnings' });
    for (const warning of [/still says "Write your message here"/, /example domain/, /Preview text is missing/])
      await warnings.getByText(warning).waitFor();
    await page.getByRole('textbox', { name: 'Preview text' }).fill('What we made for {{name|you}}');
    await page.getByText('2 people would receive it now.').waitFor();
    await page.getByRole('combobox', { name: 'Exclude members of' }).click();
    await page.getByRole('option', { name: 'Customers' }).click();
    await page.keyboard.press('Escape');
    await page.getByText('1 person would receive it now.').waitFor();
    await page.getByText(/1 in an excluded group or segment/).waitFor();
    await page.getByLabel('utm_source').fill('newsletter');
    await page.getByLabel('utm_campaign').fill('autumn');
    await soon(now).toMatchObject({
      previewText: 'What we made for {{name|you}}',
      excludedGroupIds: [customers.id],
      utmSource: 'newsletter',
      utmCampaign: 'autumn',
    });
    await soon(() => warnings.getByText(/Preview text/).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);

    await warnings.getByRole('link', { name: 'Set it in the project’s settings' }).click();
    await page.getByRole('textbox', { name: 'Name and address' }).fill('The Workshop\n1 Main Street');
    await page.getByRole('region', { name: 'Postal address' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Postal address saved.').waitFor();
    await page.goBack();
    await warnings.waitFor();
    await soon(() => warnings.getByText(/Postal address/).count()).toBe(0);
  });

  test('previews and tests show the values of a contact, chosen by keyboard', async () => {
    const { api, id } = await readyCampaign();
    await api.post('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
    await api.contact('grace@example.net', { name: 'Grace', custom_fields: { city: 'Arlington' } });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const preview = page.frameLocator('iframe[title]');
    await preview.getByText('Hello Ada Lovelace in town').waitFor();
    await page.getByRole('combobox', { name: 'Preview as' }).focus();
    await page.keyboard.type('grace');
    // Before the search, all contacts are options.
    await soon(() => page.getByRole('option').allTextContents()).toEqual(['grace@example.net']);
    await chooseByKeyboard(page, 'grace@example.net');
    await preview.getByText('Hello Grace in Arlington').waitFor();
    await page.getByRole('button', { name: 'Send test email' }).click();
    const dialog = page.getByRole('dialog');
    await soon(() => dialog.getByRole('combobox', { name: 'Fill placeholders for' }).inputValue()).toBe(
      'grace@example.net',
    );
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Test email sent.').waitFor();
    const [sent] = (await api.get('/v1/emails')).body.data;
    expect((await api.get(`/v1/emails/${sent.id}`)).body.data.html).toContain('Hello Grace in Arlington');

    const template = (
      await api.post('/v1/templates', { name: 'Letter', subject: 'Dear {{name}}', body: '<p>{{city}}</p>' })
    ).body;
    await window.open(`/templates/${template.data.id}`);
    await page.frameLocator('iframe[title]').getByText('Arlington').waitFor();
    await page.getByRole('button', { name: 'Send test email' }).click();
    await soon(() => dialog.getByRole('combobox', { name: 'From address' }).inputValue()).toBe('hello@example.com');
    await dialog.getByRole('button', { name: 'Send test' }).click();
    await soon(async () => (await api.get('/v1/emails')).body.data[0].subject).toBe('[Test] Dear Grace');
    await window.open(`/templates/${template.data.id}/versions`);
    await page.frameLocator('iframe[title]').getByText('Arlington').waitFor();
    await pool.query("UPDATE campaigns SET status = 'canceled' WHERE id = $1", [id]);
    await window.open(`/campaigns/${id}`);
    await preview.getByText('Hello Grace in Arlington').waitFor();
  });

  test('a campaign that lost what it needs says so in the words of its page, also when it is sent or tested', async () => {
    const { api, id } = await readyCampaign();
    const eve = await api.contact('eve@example.net');
    const group = (await api.post('/v1/groups', { name: 'Staff', contact_ids: [eve.id] })).body.data;
    await api.patch(`/v1/campaigns/${id}`, { excluded_group_ids: [group.id] });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const dialog = page.getByRole('dialog');
    await page.getByText('Ready to send.').waitFor();
    await page.getByRole('button', { name: 'Send now' }).click();
    await dialog.getByRole('button', { name: 'Send' }).waitFor();
    await pool.query('DELETE FROM groups WHERE id = $1', [group.id]);
    await dialog.getByRole('button', { name: 'Send' }).click();
    const lost = 'Exclude members of: the group was deleted, so remove it';
    await dialog.getByRole('alert').getByText(`${lost}.`).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('listitem').filter({ hasText: lost }).waitFor();
    expect(await page.getByRole('button', { name: 'Send now' }).isDisabled()).toBe(true);

    const empty = (await api.post('/v1/campaigns', { name: 'Empty', from_email: 'hello@example.com' })).body.data;
    await window.open(`/campaigns/${empty.id}`);
    await page.getByRole('button', { name: 'Send test email' }).click();
    await dialog.getByRole('button', { name: 'Send test' }).click();
    await dialog.getByText('Subject is required. Content is required, unless a template is chosen.').waitFor();
  });

  test('a scheduled campaign changes only after a confirmation', async () => {
    const { api, id, now } = await readyCampaign();
    await api.post(`/v1/campaigns/${id}/schedule`, { scheduled_at: new Date(Date.now() + DAY_MS).toISOString() });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const subject = page.getByRole('textbox', { name: 'Subject' });
    await subject.fill('Other news');
    await page.getByText('Changed: subject.').waitFor();
    expect(await page.getByRole('button', { name: 'Send now' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await subject.inputValue()).toBe('News');

    await subject.fill('Better news');
    await page.getByRole('button', { name: 'Save changes' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('with your changes to subject.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect((await now()).subject).toBe('News');
    await page.getByRole('dialog').getByRole('button', { name: 'Save changes' }).focus();
    await page.keyboard.press('Enter');
    await soon(now).toMatchObject({ subject: 'Better news', status: 'scheduled' });
    await soon(() => page.getByText('Unsaved changes to a scheduled campaign').count()).toBe(0);
  });

  test('a draft that was scheduled in another window is not changed by autosaving', async () => {
    const { api, id, now } = await readyCampaign();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByText('Ready to send.').waitFor();
    await api.post(`/v1/campaigns/${id}/schedule`, { scheduled_at: new Date(Date.now() + DAY_MS).toISOString() });
    await page.getByRole('textbox', { name: 'Subject' }).fill('Too late');
    await page.getByText('Unsaved changes to a scheduled campaign').waitFor();
    expect((await now()).subject).toBe('News');
  });

  test('a time zone is found by typing, is remembered, and the start is shown in both zones', async () => {
    const { api, id, now } = await readyCampaign();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const dialog = page.getByRole('dialog');
    const zone = dialog.getByRole('combobox', { name: 'Time zone' });
    await page.getByRole('button', { name: 'Schedule' }).click();
    expect(await zone.inputValue()).toMatch(/^Europe\/Berlin/);
    const time = page.getByLabel('Date and time');
    await time.fill('2026-01-15T10:00');
    await dialog.getByText('Must be in the future').waitFor();
    expect(await dialog.getByText(/^Starts/).count()).toBe(0);
    expect(await dialog.getByRole('button', { name: 'Schedule' }).isDisabled()).toBe(true);
    // While the year is typed, it is 2, 20 and 202.
    await time.focus();
    for (const key of ['Tab', 'Tab', '2', '0', '2', '7']) await page.keyboard.press(key);
    expect(await time.inputValue()).toBe('2027-01-15T10:00');
    await dialog.getByText(/^Starts/).waitFor();
    expect(await dialog.getByText('Must be in the future').count()).toBe(0);
    await zone.focus();
    await page.keyboard.type('new york');
    await page.keyboard.press('Enter');
    expect(await zone.inputValue()).toMatch(/^America\/New York/);
    await dialog.getByText(/15 Jan 2027, 10:00 .*your time: .*15 Jan 2027, 16:00/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await soon(async () => (await now()).scheduledAt).toBe('2027-01-15T15:00:00.000Z');
    await page.getByText(/15 Jan 2027, 10:00 .*your time: .*16:00/).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Reschedule' }).click();
    expect(await zone.inputValue()).toMatch(/^America\/New York/);
    expect(await page.getByLabel('Date and time').inputValue()).toBe('2027-01-15T10:00');
  });

  test('a campaign is scheduled for the local time of each recipient, by a custom field', async () => {
    const { api, id, now } = await readyCampaign();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const dialog = page.getByRole('dialog');
    const local = dialog.getByRole('checkbox', { name: 'At each recipient’s local time' });
    await page.getByRole('button', { name: 'Schedule' }).click();
    await local.check();
    await dialog.getByRole('link', { name: 'Create one' }).waitFor();
    expect(await dialog.getByRole('button', { name: 'Schedule' }).isDisabled()).toBe(true);

    await api.post('/v1/custom-fields', { key: 'zone', label: 'Zone of the contact', type: 'text' });
    await window.open(`/campaigns/${id}`);
    await page.getByRole('button', { name: 'Schedule' }).click();
    await local.check();
    await page.getByLabel('Date and time').fill('2027-01-15T10:00');
    await dialog.getByRole('combobox', { name: 'Field with the contact’s time zone' }).click();
    await page.getByRole('option', { name: 'Zone of the contact' }).click();
    // In Kiribati it is 10:00 first, at 21:00 of the 14th in Berlin.
    await dialog.getByText(/14 Jan 2027, 21:00 .*Recipients for whom the time has passed/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await soon(now).toMatchObject({
      status: 'scheduled',
      scheduledAt: '2027-01-14T20:00:00.000Z',
      localTime: '2027-01-15T10:00',
      timeZone: 'Europe/Berlin',
      timeZoneField: 'zone',
    });
    await page.getByText(/at each recipient’s local time, .*15 Jan 2027, 10:00/).waitFor();
    await page.getByRole('button', { name: 'Reschedule' }).click();
    expect(await page.getByLabel('Date and time').inputValue()).toBe('2027-01-15T10:00');
    await local.uncheck();
    await dialog.getByRole('button', { name: 'Reschedule' }).click();
    await soon(now).toMatchObject({ scheduledAt: '2027-01-15T09:00:00.000Z', localTime: null, timeZoneField: null });
  });

  test('a published template has a draft; publishing it names the scheduled campaigns that will send it', async () => {
    const api = await readyProject();
    const { id } = (await api.post('/v1/templates', { name: 'Letter', subject: 'News', body: '<p>First</p>' })).body
      .data;
    await api.post(`/v1/templates/${id}/publish`);
    const [group] = (await api.get('/v1/groups')).body.data;
    const campaign = { name: 'Weekly', from_email: 'news@example.com', template_id: id, group_ids: [group.id] };
    const made = (await api.post('/v1/campaigns', campaign)).body.data;
    await api.post(`/v1/campaigns/${made.id}/schedule`, { scheduled_at: new Date(Date.now() + DAY_MS).toISOString() });
    const read = async () => (await api.get(`/v1/templates/${id}`)).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/templates/${id}`);
    const preview = page.frameLocator('iframe[title]');
    await preview.getByText('First').waitFor();
    expect(await page.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true);
    const write = async (text: string) => {
      await page.getByRole('textbox', { name: 'HTML' }).click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(`<p>${text}</p>`);
      await preview.getByText(text).waitFor();
    };
    await write('Second');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText('You are editing a draft. Version 2 is sent until you publish it.').waitFor();
    expect(await read()).toMatchObject({ body: '<p>First</p>', draft: { body: '<p>Second</p>' } });
    await page.getByText('Unpublished draft').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.reload();
    await preview.getByText('Second').waitFor();

    await page.getByRole('button', { name: 'Discard draft' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard draft' }).click();
    await preview.getByText('First').waitFor();
    await write('Third');
    await page.getByRole('button', { name: 'Publish' }).focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('dialog')
      .getByText(/Weekly, which starts/)
      .waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect((await read()).body).toBe('<p>First</p>');
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).focus();
    await page.keyboard.press('Enter');
    await soon(read).toMatchObject({ body: '<p>Third</p>', draft: null });
  });

  test('templates are listed with a picture of each, on phones with their subject and date', async () => {
    const api = await testApi();
    const letter = { name: 'Letter', subject: 'Spring at the workshop', body: '<h1>Spring</h1>' };
    await api.post('/v1/templates', letter);
    await using window = await windowOf(api, 'owner', SIZES.phone);
    const { page } = window;
    await window.open('/templates');
    await page.frameLocator('.mail-thumbnail iframe').getByText('Spring').waitFor();
    await page.getByText('Spring at the workshop').waitFor();
    expect(await page.locator('table time:visible').count()).toBe(1);
    await expectAccessible(api, window.person, '/templates', 'Letter');
  });

  test('a warm-up plan is shown as a chart', async () => {
    const api = await testApi();
    await addLocalDomain(api.projectId, 'example.com');
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/domains/example.com');
    await page.getByRole('button', { name: 'Change plan' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('figure', { name: '14 steps, from 50 to 150,000 messages per day' }).waitFor();
    await dialog.getByRole('radio', { name: 'Custom' }).check();
    await dialog.getByRole('textbox').fill('10, 20, 40');
    await dialog.getByRole('figure', { name: '3 steps, from 10 to 40 messages per day' }).waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('figure', { name: /^3 steps, from 10 to 40 .*; today is step 1, with 10/ }).waitFor();
    await soon(() => page.locator('.chart-bar').count()).toBeGreaterThan(2);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('new sections of a campaign and of the settings are accessible in both themes and sizes', async () => {
    const { api, id } = await readyCampaign();
    await using window = await windowOf(api);
    await expectAccessible(api, window.person, `/campaigns/${id}`, 'UTM parameters');
    await expectAccessible(api, window.person, '/settings', 'Postal address');
  });
});
