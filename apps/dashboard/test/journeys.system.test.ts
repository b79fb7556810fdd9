import { type Api, eventually, startTestWorker } from '@postroom/testkit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { accessibilityViolations, expectAccessible, inBrowser, soon, windowOf } from './browser.ts';
import { readyProject } from './ready-project.ts';

async function withTemplate(): Promise<{ api: Api; templateId: string }> {
  const api = await readyProject();
  const template = { name: 'Welcome', subject: 'Welcome', body: '<p>Hello {{name|there}}</p>' };
  const templateId = (await api.post('/v1/templates', template)).body.data.id;
  await api.post(`/v1/templates/${templateId}/publish`);
  return { api, templateId };
}

const WAIT = { id: 'a_day', type: 'wait', for: { days: 1 }, next: 'thanks' };

/** A published journey: a wait of a day, and an email. */
async function published() {
  const { api, templateId } = await withTemplate();
  const send = { id: 'thanks', type: 'send', templateId, from: 'hello@example.com' };
  const definition = { entry: { type: 'manual' }, steps: [WAIT, send] };
  const { id } = (await api.post('/v1/journeys', { name: 'Thanks', definition })).body.data;
  expect((await api.post(`/v1/journeys/${id}/publish`, {})).status).toBe(200);
  return { api, id, templateId };
}

const definitionOf = async (api: Api, id: string) => (await api.get(`/v1/journeys/${id}`)).body.data.definition;

async function fillEmail(page: Page, step: string): Promise<void> {
  await page.getByRole('button', { name: `Edit ${step}:` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Template' }).click();
  await page.getByRole('option', { name: 'Welcome' }).click();
  await dialog.getByLabel('From').fill('Ada <hello@example.com>');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
}

inBrowser('journeys', () => {
  test('one is started from the gallery, completed, published, and a contact goes through it, by mouse', async () => {
    const { api } = await withTemplate();
    await startTestWorker();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/journeys');
    await page.getByText('No journeys yet').waitFor();
    await page.getByRole('button', { name: 'New journey' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Onboarding');
    await dialog.getByRole('combobox', { name: 'Start from' }).click();
    await page.getByRole('option', { name: 'Onboarding by behavior' }).click();
    await dialog.getByText('Helps those who have not created a project').waitFor();
    await dialog.getByRole('button', { name: 'Create' }).click();

    await page.getByRole('heading', { level: 1, name: 'Onboarding' }).waitFor();
    await page.getByText('3 steps below need attention').waitFor();
    await page.getByText('Template is required').first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByText('This draft can’t be published yet').waitFor();
    await page.keyboard.press('Escape');
    for (const step of ['welcome', 'show_more', 'help']) await fillEmail(page, step);
    expect(await page.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(() => page.getByRole('button', { name: 'Publish' }).isEnabled()).toBe(true);
    await page.getByText('need attention').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Active', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Enroll contacts' }).click();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel('Ada').check();
    await dialog.getByRole('button', { name: 'Enroll' }).click();
    await page.getByText('1 contact entered the journey.').waitFor();
    const { id } = (await api.get('/v1/journeys')).body.data[0];
    await eventually(async () =>
      expect((await api.get(`/v1/journeys/${id}/enrollments`)).body.data).toMatchObject([{ stepId: 'project' }]),
    );
    await page.reload();
    await page.getByRole('link', { name: '1 contact here' }).click();
    await page.waitForURL(/step=project/);
    await page.getByText('Waits for “project created” until').waitFor();
    await page.getByRole('table', { name: 'Contacts in the journey' }).getByRole('link', { name: 'Ada' }).click();

    await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor();
    const steps = page.getByRole('table', { name: 'Steps of the contact' });
    await steps.getByRole('link', { name: 'Sent' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    await dialog.getByRole('combobox', { name: 'Step' }).click();
    await page.getByRole('option', { name: 'show_more' }).click();
    await dialog.getByRole('button', { name: 'Move' }).click();
    await page.getByText('Completed', { exact: true }).waitFor();
    await steps.getByText('Moved by hand').waitFor();
    await page.getByText('Reached the end').waitFor();
  });

  test('steps are added, edited, undone and removed by keyboard; a new version asks about contacts in progress', async () => {
    const { api, id } = await published();
    const contact = await api.contact('eve@example.net');
    await api.post(`/v1/journeys/${id}/enrollments`, { contact_ids: [contact.id] });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/journeys/${id}`);
    const press = async (name: string, key = 'Enter') => {
      await page.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press(key);
    };
    await press('Add a step after thanks');
    await page.getByRole('menuitem', { name: 'Check a condition' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'The email of an earlier step' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await dialog.getByRole('combobox', { name: 'Outcome of the email' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Whether the contact has had the email of step thanks, which was opened').waitFor();
    await press('Add a step after condition: No');
    await page.getByRole('menuitem', { name: 'Exit' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#step-exit').waitFor();
    await page.locator('body').press('Control+z');
    await page.locator('#step-exit').waitFor({ state: 'detached' });
    await page.locator('body').press('Control+Shift+z');
    await page.locator('#step-exit').waitFor();
    await press('Actions for a_day: Wait');
    await page.getByRole('menuitem', { name: 'Remove' }).focus();
    await page.keyboard.press('Enter');
    await press('Save');
    await soon(async () => (await definitionOf(api, id)).steps.map((step: { id: string }) => step.id)).toEqual([
      'thanks',
      'condition',
      'exit',
    ]);
    expect((await definitionOf(api, id)).steps).toMatchObject([
      { id: 'thanks', next: 'condition' },
      { id: 'condition', yes: null, no: 'exit', message: { stepId: 'thanks', outcome: 'opened' } },
      { id: 'exit' },
    ]);

    await soon(() => page.getByRole('button', { name: 'Publish' }).isEnabled()).toBe(true);
    await press('Publish');
    await dialog.getByText('1 contact in progress').waitFor();
    await dialog.getByText('0 contacts can move; the others finish on their version.').waitFor();
    await dialog.getByRole('radio', { name: 'Leave the journey' }).focus();
    await page.keyboard.press('Space');
    await dialog.getByRole('button', { name: 'Publish' }).focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('table', { name: 'Contacts in the journey' })
      .getByText('A new version was published')
      .waitFor();
  });

  test('with a step focused, keys move between steps, copy, paste, add after and remove', async () => {
    const { api, id } = await published();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/journeys/${id}`);
    const dialog = page.getByRole('dialog');
    const focused = () => page.evaluate(() => document.activeElement?.closest('[data-step]')?.id);
    await page.getByRole('button', { name: 'Edit a_day: Wait' }).focus();
    await page.keyboard.press('Control+c');
    await page.getByText('a_day is copied.').waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('step-thanks');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toBe('step-a_day');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+v');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('wait · For 1 day').waitFor();

    await page.getByRole('button', { name: 'Edit thanks:' }).focus();
    await page.keyboard.press('a');
    await page.getByRole('menuitem', { name: 'Paste Wait' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('menuitem', { name: 'Paste Wait' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit wait: Wait' }).focus();
    await page.keyboard.press('Delete');
    await page.locator('#step-wait').waitFor({ state: 'detached' });
    expect(await focused()).toBe('step-thanks');

    await page.getByRole('button', { name: 'Actions for thanks:' }).click();
    await page.getByRole('menuitem', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Add a step after a_day' }).click();
    await page.getByRole('menuitem', { name: 'Paste Send' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(async () => (await definitionOf(api, id)).steps).toMatchObject([
      { id: 'a_day', next: 'send' },
      { id: 'thanks', next: null },
      { id: 'send', from: 'hello@example.com', next: 'thanks' },
    ]);
  });

  test('entry and rules are set; a journey is paused, resumed, downloaded, replaced and archived', async () => {
    const { api, id, templateId } = await published();
    const campaign = { name: 'Spring sale', subject: 'Sale', from_email: 'hello@example.com', template_id: templateId };
    const campaignId = (await api.post('/v1/campaigns', campaign)).body.data.id;
    const event = { name: 'signed up', email: 'eve@example.net', create_contact: true, properties: { seats: 3 } };
    expect((await api.post('/v1/events', event)).status).toBeLessThan(300);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/journeys/${id}`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Edit entry' }).click();
    await dialog.getByLabel('When it causes an event').check();
    await dialog.getByRole('combobox', { name: 'Event' }).fill('signed');
    await page.getByRole('option', { name: 'signed up' }).click();
    await dialog.getByRole('button', { name: 'Add condition on the event' }).click();
    await dialog.getByRole('combobox', { name: 'Property' }).click();
    await page.getByRole('option', { name: 'seats' }).click();
    await dialog.getByLabel('Value').fill('5');
    await dialog.getByRole('button', { name: 'Add conditions on the contact' }).click();
    await dialog.getByRole('combobox', { name: 'Field' }).click();
    await page.getByRole('option', { name: 'Opened email' }).click();
    await dialog.getByRole('combobox', { name: 'Campaign or template' }).click();
    await page.getByRole('option', { name: 'Spring sale' }).click();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('When a contact causes “signed up” if seats is “5” and matches the conditions.').waitFor();
    await page.getByRole('button', { name: 'Edit rules' }).click();
    await dialog.getByLabel('After some days').check();
    await dialog.getByLabel('Quiet hours').check();
    await dialog.getByLabel('Limit the emails per contact').check();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('No email is sent from 22:00 to 07:00.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(() => definitionOf(api, id)).toMatchObject({
      entry: { type: 'event', event: 'signed up', where: [{ property: 'seats', op: 'is', value: 5 }] },
      reentry: { afterDays: 30 },
      quietHours: { from: '22:00', to: '07:00' },
      frequencyCap: { messages: 3, days: 7 },
    });
    expect(JSON.stringify((await definitionOf(api, id)).entry.filter)).toContain(campaignId);

    await page.getByText('Published', { exact: true }).click();
    await page.getByText('Version 1, published').waitFor();
    await page.getByText('When you or the API enroll a contact.').waitFor();
    await page.getByText('No email is sent from 22:00 to 07:00.').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Edit entry' }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByText('Draft', { exact: true }).click();
    await page.getByText('No email is sent from 22:00 to 07:00.').waitFor();

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('#content').getByText('Paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('#content').getByText('Active', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More for Thanks' }).click();
    const downloaded = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Download as JSON' }).click();
    expect((await downloaded).suggestedFilename()).toBe('Thanks.json');
    await page.getByRole('button', { name: 'More for Thanks' }).click();
    await page.getByRole('menuitem', { name: 'Replace by a file' }).click();
    const file = { name: 'other.json', mimeType: 'application/json' };
    const given = { entry: { type: 'manual' }, steps: [{ id: 'only', type: 'wait', for: { hours: 2 } }] };
    await dialog.locator('input[type=file]').setInputFiles({ ...file, buffer: Buffer.from('{') });
    await dialog.getByRole('button', { name: 'Replace' }).click();
    await dialog.getByText('The file is not JSON.').waitFor();
    await dialog.locator('input[type=file]').setInputFiles({ ...file, buffer: Buffer.from(JSON.stringify(given)) });
    await dialog.getByRole('button', { name: 'Replace' }).click();
    await page.getByText('only · For 2 hours').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('a_day · For 1 day').waitFor();

    await page.getByRole('button', { name: 'More for Thanks' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await dialog.getByRole('textbox').fill('Thanks');
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await page.locator('#content').getByText('Archived', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  });

  test('a draft is compared with what is published against the past, and its numbers lead to people', async () => {
    const { api, id, templateId } = await published();
    await startTestWorker();
    await api.contact('eve@example.net');
    const occurred_at = new Date(Date.now() - 5 * 86_400_000).toISOString();
    await api.post('/v1/events', { name: 'signed up', email: 'eve@example.net', occurred_at });
    const send = { id: 'thanks', type: 'send', templateId, from: 'hello@example.com' };
    const definition = { entry: { type: 'event', event: 'signed up' }, steps: [WAIT, send] };
    expect((await api.patch(`/v1/journeys/${id}`, { definition })).status).toBe(200);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/journeys/${id}`);
    await page.getByRole('button', { name: 'Backtest' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Compare both').waitFor();
    await dialog.getByRole('button', { name: 'Run backtest' }).click();
    await page.getByText('Emails only from the tested version').first().waitFor();
    await page.locator('#content').getByText('Completed', { exact: true }).first().waitFor();
    const row = page.getByRole('table', { name: 'Difference' }).getByRole('row').nth(1);
    await row.getByRole('link', { name: '1' }).click();
    await page.getByText('thanks: Sent').waitFor();
    await page.getByText('Does not enter').waitFor();
    const path = new URL(page.url()).pathname.replace(/^.*(?=\/backtests)/, '');
    await expectAccessible(api, window.person, path, 'thanks: Sent');
  });

  test('the pages are accessible in both schemes and sizes, and a viewer is offered no changes', async () => {
    const { api, id } = await published();
    const contact = await api.contact('eve@example.net');
    await api.post(`/v1/journeys/${id}/enrollments`, { contact_ids: [contact.id] });
    const [enrollment] = (await api.get(`/v1/journeys/${id}/enrollments`)).body.data;
    await using viewer = await windowOf(api, 'viewer');
    await viewer.open(`/journeys/${id}`);
    await viewer.page.getByText('1 contact here').waitFor();
    for (const name of ['Save', 'Publish', 'Pause', 'Enroll contacts', 'Edit entry', 'Add a step after thanks'])
      expect(await viewer.page.getByRole('button', { name }).count(), name).toBe(0);
    await using owner = await windowOf(api);
    await expectAccessible(api, owner.person, '/journeys', 'Thanks');
    await expectAccessible(api, owner.person, `/journeys/${id}`, '1 contact here');
    await expectAccessible(api, owner.person, `/enrollments/${enrollment.id}`, 'At step');
  });
});
