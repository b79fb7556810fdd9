import { pool } from '@postroom/platform';
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

/** A step, or the entry, in the graph. */
const node = (page: Page, id: string) => page.locator(`[data-node="${id}"]`);

/** What is next to the graph. */
const panelOf = (page: Page, title: string) => page.getByRole('region', { name: title });

const focusedNode = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('data-node'));

async function fillEmail(page: Page, step: string): Promise<void> {
  await node(page, step).click();
  const panel = panelOf(page, `Send an email: ${step}`);
  await panel.getByRole('combobox', { name: 'Template' }).click();
  await page.getByRole('option', { name: 'Welcome' }).click();
  await panel.getByLabel('From').fill('Ada <hello@example.com>');
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
    expect(await dialog.getByRole('radio').count()).toBe(11);
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('radio', { name: 'Onboarding by behavior Helps contacts who' }).check();
    await dialog.getByRole('button', { name: 'Create' }).click();

    await page.getByRole('heading', { level: 1, name: 'Onboarding' }).waitFor();
    const problems = page.getByRole('list', { name: 'Problems' });
    await problems.getByText('Template is required').nth(2).waitFor();
    await node(page, 'welcome').getByText('Template is required').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByText('This draft can’t be published yet').waitFor();
    await dialog.getByRole('button', { name: 'help' }).first().click();
    await dialog.waitFor({ state: 'detached' });
    await soon(() => focusedNode(page)).toBe('help');
    await panelOf(page, 'Send an email: help').getByText('Template is required').waitFor();
    for (const step of ['welcome', 'show_more', 'help']) await fillEmail(page, step);
    expect(await page.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(() => page.getByRole('button', { name: 'Publish' }).isEnabled()).toBe(true);
    await problems.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Active', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Enroll contacts' }).click();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel('Ada').check();
    await dialog.getByRole('button', { name: 'Enroll' }).click();
    await page.getByText('1 contact entered the journey.').waitFor();
    await page.getByText('Contacts, all versions', { exact: true }).waitFor();
    const { id } = (await api.get('/v1/journeys')).body.data[0];
    await eventually(async () =>
      expect((await api.get(`/v1/journeys/${id}/enrollments`)).body.data).toMatchObject([{ stepId: 'project' }]),
    );
    await page.getByRole('button', { name: 'Enroll contacts' }).click();
    await dialog.getByLabel('Ada').check();
    await dialog.getByRole('button', { name: 'Enroll' }).click();
    await dialog.getByText('Nobody entered').waitFor();
    await dialog.getByRole('button', { name: 'Remove Ada' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.reload();
    await page.getByRole('button', { name: /Wait for an event.*1 contact here/ }).click();
    await page.getByTitle('1 contact took this branch').nth(1).waitFor();
    const people = panelOf(page, 'Wait for an event: project').getByRole('group', { name: 'Contacts' });
    await people.getByText('Waits for “project created” until').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await people.getByRole('link', { name: 'Show in the list' }).click();
    await page.waitForURL(/step=project/);
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
    await node(page, 'thanks').focus();
    await page.keyboard.press('a');
    await page.getByRole('menuitem', { name: 'Check a condition' }).focus();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    const panel = panelOf(page, 'Check a condition: condition');
    await soon(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Check a condition: condition');
    await panel.getByRole('combobox', { name: 'The email of an earlier step' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await panel.getByRole('combobox', { name: 'Outcome of the email' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    expect(await focusedNode(page)).toBe('condition');
    await node(page, 'condition').getByText('opened the email of step thanks').waitFor();
    await press('Add a step after condition: No');
    await page.getByRole('menuitem', { name: 'Exit' }).focus();
    await page.keyboard.press('Enter');
    await node(page, 'exit').waitFor();
    await page.locator('body').press('Control+z');
    await node(page, 'exit').waitFor({ state: 'detached' });
    await page.locator('body').press('Control+Shift+z');
    await node(page, 'exit').waitFor();
    await node(page, 'a_day').focus();
    await page.keyboard.press('Enter');
    await press('Actions for a_day');
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

    await page.getByText('Compare', { exact: true }).click();
    await page
      .getByText('How contacts enter differs. New: condition and exit. Changed: thanks. Removed: a_day.')
      .waitFor();
    const draft = page.getByRole('application', { name: 'Draft steps' });
    await draft.getByRole('button', { name: 'Changed: Send “Welcome”' }).click();
    expect(
      await page.getByRole('application', { name: 'Published, version 1 steps' }).getByText('Removed:').count(),
    ).toBe(1);
    expect(await accessibilityViolations(page)).toEqual([]);
    await soon(() => page.getByRole('button', { name: 'Publish' }).isEnabled()).toBe(true);
    await press('Publish');
    const dialog = page.getByRole('dialog');
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
    await page.getByText('Both are the same.').waitFor();
    await page.getByRole('combobox', { name: 'Second version' }).click();
    await page.getByRole('option', { name: 'Version 1, ' }).click();
    await page
      .getByText('How contacts enter differs. New: condition and exit. Changed: thanks. Removed: a_day.')
      .waitFor();
    await page.getByRole('combobox', { name: 'First version' }).click();
    await page.getByRole('option', { name: 'Version 1, ' }).click();
    await page.getByText('Both are the same.').waitFor();
    expect(await page.getByRole('application', { name: 'Version 1 steps' }).count()).toBe(2);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('with a step focused, keys move between steps, copy, paste and remove; steps are copied to another journey', async () => {
    const { api, id } = await published();
    const other = (await api.post('/v1/journeys', { name: 'Other' })).body.data.id;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/journeys/${id}`);
    await node(page, 'a_day').focus();
    await page.keyboard.press('Control+c');
    await page.getByText('a_day is copied.').waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await focusedNode(page)).toBe('thanks');
    await page.keyboard.press('ArrowUp');
    expect(await focusedNode(page)).toBe('a_day');
    await page.keyboard.press('Home');
    expect(await focusedNode(page)).toBe(':entry');
    await page.keyboard.press('End');
    await page.keyboard.press('Control+v');
    await soon(() => focusedNode(page)).toBe('a_day_2');
    await page.keyboard.press('Delete');
    await node(page, 'a_day_2').waitFor({ state: 'detached' });
    expect(await focusedNode(page)).toBe('thanks');
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);

    const selected = page.getByRole('group', { name: 'Selected steps' });
    await page.keyboard.press('Shift+ArrowUp');
    await selected.getByText('2 steps selected').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('Control+c');
    await page.getByText('2 steps are copied.').waitFor();
    await page.keyboard.press('End');
    await selected.getByText('2 steps selected').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+v');
    await node(page, 'thanks_2').waitFor();
    await node(page, 'a_day').click({ modifiers: ['Shift'] });
    await selected.getByText('2 steps selected').waitFor();
    await node(page, 'thanks').click({ modifiers: ['Shift'] });
    await selected.getByText('3 steps selected').waitFor();
    await node(page, 'a_day_2').click({ modifiers: ['Shift'] });
    await selected.getByRole('button', { name: 'Remove' }).click();
    await node(page, 'a_day').waitFor({ state: 'detached' });
    await node(page, 'thanks').waitFor({ state: 'detached' });
    await page.locator('body').press('Control+z');
    await node(page, 'a_day_2').click();
    await page.getByRole('button', { name: 'Actions for a_day_2' }).click();
    await page.getByRole('menuitem', { name: 'Change ID' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Step ID').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel('Step ID').fill('thanks');
    await dialog.getByText('Another step has this ID.').waitFor();
    await dialog.getByLabel('Step ID').fill('later');
    await page.keyboard.press('Enter');
    await panelOf(page, 'Wait: later').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(async () => (await definitionOf(api, id)).steps).toMatchObject([
      { id: 'a_day', next: 'thanks' },
      { id: 'thanks', next: 'later' },
      { id: 'later', next: 'thanks_2' },
      { id: 'thanks_2', next: null },
    ]);

    await page.getByRole('button', { name: 'Actions for later' }).click();
    await page.getByRole('menuitem', { name: 'Copy with following steps' }).click();
    await page.getByText('2 steps are copied.').last().waitFor();
    await window.open(`/journeys/${other}`);
    await page.getByRole('button', { name: 'Add a step after the entry' }).click();
    await page.getByRole('menuitem', { name: 'Paste 2 steps' }).click();
    await soon(() => focusedNode(page)).toBe('later');
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', '{"steps":[{"id":"a","type":"dance"}]}');
      document.activeElement?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
    });
    await page.getByText('These steps can’t be added: steps.0.type must be one of').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(async () => (await definitionOf(api, other)).steps).toMatchObject([
      { id: 'later', type: 'wait', next: 'thanks_2' },
      { id: 'thanks_2', type: 'send', from: 'hello@example.com', next: null },
    ]);
  });

  test('by mouse a step is dragged to another place, and an edge to another step', async () => {
    const { api, id } = await published();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/journeys/${id}`);
    /** The middle of what is shown, once it stands still. */
    const middle = async (selector: string) => {
      let [last, box] = ['', await page.locator(selector).boundingBox()];
      await soon(async () => {
        [last, box] = [JSON.stringify(box), await page.locator(selector).boundingBox()];
        return JSON.stringify(box) === last;
      }).toBe(true);
      if (box === null) throw new Error(`${selector} is not shown.`);
      return [box.x + box.width / 2, box.y + box.height / 2] as const;
    };
    const drag = async (from: readonly [number, number], to: readonly [number, number]) => {
      await page.mouse.move(...from);
      await page.mouse.down();
      await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, { steps: 5 });
      await page.mouse.move(...to, { steps: 5 });
      await page.mouse.up();
    };
    // The graph is drawn at its origin before it is moved to the middle.
    await page.locator('.react-flow__viewport:not([style*="translate(0px, 0px)"])').waitFor();
    await drag(await middle('[data-node=a_day]'), await middle('[data-insert=thanks]'));
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(async () => (await definitionOf(api, id)).steps).toMatchObject([
      { id: 'thanks', next: 'a_day' },
      { id: 'a_day', next: null },
    ]);
    await drag(
      await middle('[data-id="a_day"] .react-flow__handle.source'),
      await middle('[data-id="thanks"] .react-flow__handle.target'),
    );
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(async () => (await definitionOf(api, id)).steps[1]).toMatchObject({ id: 'a_day', next: 'thanks' });
  });

  test('the branches of a split add up in tenths of a percent', async () => {
    const { api } = await withTemplate();
    const split = { id: 'thirds', type: 'split', branches: [{ percent: 33.4 }, { percent: 33.3 }] };
    const definition = { entry: { type: 'manual' }, steps: [split] };
    const { id } = (await api.post('/v1/journeys', { name: 'Thirds', definition })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/journeys/${id}`);
    await node(page, 'thirds').click();
    const branches = page.getByRole('group', { name: 'Branches' });
    await branches.getByRole('button', { name: 'Add branch' }).click();
    expect(await branches.getByLabel('Branch 3', { exact: true }).inputValue()).toBe('33.3%');
    expect(await branches.getByRole('status').textContent()).toBe('100 % in total');
  });

  test('only those who manage the project are offered the signing secret of a webhook step', async () => {
    const { api } = await withTemplate();
    const step = { id: 'call', type: 'webhook', url: 'https://example.com/coupons' };
    const definition = { entry: { type: 'manual' }, steps: [step] };
    const { id } = (await api.post('/v1/journeys', { name: 'Coupons', definition })).body.data;
    for (const [role, offered] of [
      ['admin', 1],
      ['member', 0],
    ] as const) {
      await using window = await windowOf(api, role);
      const { page } = window;
      await window.open(`/journeys/${id}`);
      await node(page, 'call').click();
      await page.getByLabel('URL', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Reveal signing secret' }).count()).toBe(offered);
    }
  });

  test('the panel of the rules leaves the whole graph in view', async () => {
    const { api } = await withTemplate();
    const wait = (id: string) => ({ id, type: 'wait', for: { days: 1 } });
    const split = {
      id: 'halves',
      type: 'split',
      branches: [
        { percent: 50, next: 'one' },
        { percent: 50, next: 'other' },
      ],
    };
    const definition = { entry: { type: 'manual' }, steps: [split, wait('one'), wait('other')] };
    const { id } = (await api.post('/v1/journeys', { name: 'Halves', definition })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/journeys/${id}`);
    const rightOf = async (selector: string) => {
      const boxes = await page
        .locator(selector)
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().right));
      return Math.max(...boxes);
    };
    await node(page, 'other').waitFor();
    await page.getByRole('button', { name: 'Edit rules' }).click();
    await panelOf(page, 'Rules').waitFor();
    await soon(async () => (await rightOf('[data-node]')) < (await rightOf('.journey-canvas'))).toBe(true);
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
    await node(page, ':entry').click();
    const entry = panelOf(page, 'Entry');
    await entry.getByLabel('When it causes an event').check();
    await entry.getByRole('combobox', { name: 'Event' }).fill('signed');
    await page.getByRole('option', { name: 'signed up' }).click();
    await entry.getByRole('button', { name: 'Add condition on the event' }).click();
    await entry.getByRole('combobox', { name: 'Property' }).click();
    await page.getByRole('option', { name: 'seats' }).click();
    await entry.getByLabel('Value').fill('5');
    await entry.getByRole('button', { name: 'Add conditions on the contact' }).click();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await entry.getByRole('combobox', { name: 'Field' }).click();
    await page.getByRole('option', { name: 'Opened email' }).click();
    await entry.getByRole('combobox', { name: 'Campaign or template' }).click();
    await page.getByRole('option', { name: 'Spring sale' }).click();
    expect(await accessibilityViolations(page)).toEqual([]);
    await node(page, ':entry').getByText('When a contact causes “signed up” if seats is “5” and matches').waitFor();
    await page.getByRole('button', { name: 'Edit rules' }).click();
    const rules = panelOf(page, 'Rules');
    await rules.getByLabel('After some days').check();
    await rules.getByLabel('Quiet hours').check();
    await rules.getByLabel('Limit the emails per contact').check();
    expect(await accessibilityViolations(page)).toEqual([]);
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
    await node(page, ':entry').getByText('When you or the API enroll a contact').waitFor();
    await page.getByText('No email is sent from 22:00 to 07:00.').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Edit rules' }).count()).toBe(0);
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
    await page.getByRole('menuitem', { name: 'Replace with a file' }).click();
    const file = { name: 'other.json', mimeType: 'application/json' };
    const given = {
      entry: { type: 'manual' },
      steps: [{ id: 'only', type: 'wait', for: { hours: 2 } }],
      reentry: { after_days: 30 },
    };
    await dialog.locator('input[type=file]').setInputFiles({ ...file, buffer: Buffer.from('{') });
    await dialog.getByRole('button', { name: 'Replace' }).click();
    await dialog.getByText('The file is not JSON.').waitFor();
    await dialog.locator('input[type=file]').setInputFiles({ ...file, buffer: Buffer.from(JSON.stringify(given)) });
    await dialog.getByRole('button', { name: 'Replace' }).click();
    await page.getByText('only · For 2 hours').waitFor();
    // As the documentation and the API write it.
    await page.getByText('Contacts may enter again 30 days after they last entered.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('a_day · For 1 day').waitFor();

    await page.getByRole('button', { name: 'More for Thanks' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await dialog.getByRole('textbox').fill('Thanks');
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await page.locator('#content').getByText('Archived', { exact: true }).waitFor();
    await page.getByText('Archived. Contacts can no longer enter.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    // On the menu button, if the focus returned to it before it was gone; otherwise on the first control of the page.
    expect(await page.evaluate("document.activeElement.closest('#content') !== null")).toBe(true);
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  });

  test('an active journey whose group of entry was deleted says that no contact enters it', async () => {
    const api = await readyProject();
    const ada = await api.contact('ada@example.com');
    const group = (await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] })).body.data;
    const definition = {
      entry: { type: 'group_joined', group_id: group.id },
      steps: [{ id: 'a', type: 'wait', for: { days: 1 } }],
    };
    const { id } = (await api.post('/v1/journeys', { name: 'Welcome', definition })).body.data;
    expect((await api.post(`/v1/journeys/${id}/publish`, {})).status).toBe(200);
    await using window = await windowOf(api);
    await window.open(`/journeys/${id}`);
    await window.page.getByText('When a contact joins Beta').first().waitFor();
    expect(await window.page.getByText('No contact enters this journey').count()).toBe(0);
    await api.delete(`/v1/groups/${group.id}`);
    await window.page.reload();
    await window.page.getByText('Contacts enter it by a group that was deleted.').waitFor();
  });

  test('a step of an unknown type is drawn, and kept when the draft is saved', async () => {
    const api = await readyProject();
    const dance = { id: 'tango', type: 'dance', time: { beats: 3 }, next: 'a_day' };
    const definition = { entry: { type: 'manual' }, steps: [dance, { ...WAIT, next: null }] };
    const { id } = (await api.post('/v1/journeys', { name: 'Dances', definition })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/journeys/${id}`);
    await node(page, 'tango').getByText('tango · Its type is “dance”').waitFor();
    await node(page, 'tango').getByText('must be one of').waitFor();
    await node(page, 'tango').click();
    await panelOf(page, 'Unknown step: tango').getByText('kept as they are').waitFor();
    await node(page, 'a_day').click();
    await panelOf(page, 'Wait: a_day').getByLabel('Days').fill('2');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await definitionOf(api, id)).steps).toEqual([dance, expect.objectContaining({ for: { days: 2 } })]);
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
    await dialog.getByRole('combobox', { name: 'Compare with' }).click();
    expect(await page.getByRole('option').allTextContents()).toEqual(['Draft', expect.stringMatching(/^Version 1, /)]);
    await page.keyboard.press('Escape');
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

  test('a run shows all its steps page by page, and is moved to steps of its version', async () => {
    const { api, id } = await published();
    const contact = await api.contact('eve@example.net');
    await api.post(`/v1/journeys/${id}/enrollments`, { contact_ids: [contact.id] });
    const [run] = (await api.get(`/v1/journeys/${id}/enrollments`)).body.data;
    await pool.query(
      `INSERT INTO enrollment_steps (enrollment_id, visit, step_id, arrived_at, left_at, outcome)
       SELECT $1, n, 'step ' || n, now(), now() + n * interval '1 s', 'waited' FROM generate_series(1, 60) n`,
      [run.id],
    );
    const definition = { entry: { type: 'manual' }, steps: [{ ...WAIT, id: 'another', next: null }] };
    expect((await api.patch(`/v1/journeys/${id}`, { definition })).status).toBe(200);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/enrollments/${run.id}`);
    const rows = page.getByRole('table', { name: 'Steps of the contact' }).getByRole('row');
    await page.getByRole('button', { name: 'Show all steps' }).click();
    await page.getByText('All steps, newest first.').waitFor();
    await soon(() => rows.count()).toBe(51);
    expect(await rows.nth(1).textContent()).toContain('step 60');
    await page.getByRole('button', { name: 'Next' }).click();
    await soon(() => rows.count()).toBe(11);
    expect(await rows.nth(10).textContent()).toContain('step 1');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Previous' }).click();
    await soon(() => rows.count()).toBe(51);
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    await page.getByRole('dialog').getByRole('combobox', { name: 'Step' }).click();
    await page.getByRole('option', { name: 'thanks' }).waitFor();
    expect(await page.getByRole('option', { name: 'another' }).count()).toBe(0);
  });

  test('the pages are accessible in both schemes and sizes, and a viewer is offered no changes', async () => {
    const { api, id } = await published();
    const contact = await api.contact('eve@example.net');
    await api.post(`/v1/journeys/${id}/enrollments`, { contact_ids: [contact.id] });
    const [enrollment] = (await api.get(`/v1/journeys/${id}/enrollments`)).body.data;
    await using viewer = await windowOf(api, 'viewer');
    await viewer.open(`/journeys/${id}`);
    await viewer.page.getByRole('button', { name: /1 contact here/ }).click();
    await panelOf(viewer.page, 'Wait: a_day').getByText('1 contact here now').waitFor();
    for (const name of [
      'Save',
      'Publish',
      'Pause',
      'Enroll contacts',
      'Edit rules',
      'Add a step after thanks',
      'Actions',
    ])
      expect(await viewer.page.getByRole('button', { name }).count(), name).toBe(0);
    await using owner = await windowOf(api);
    await expectAccessible(api, owner.person, '/journeys', 'Thanks');
    await expectAccessible(api, owner.person, `/journeys/${id}`, 'thanks · From hello@example.com');
    await expectAccessible(api, owner.person, `/enrollments/${enrollment.id}`, 'At step');
  });
});
