import { pool } from '@postroom/platform';
import { expect, test } from 'vitest';
import { accessibilityViolations, inBrowser, soon, windowOf } from './browser.ts';
import { readyProject } from './ready-project.ts';

const LETTER = { name: 'Sale', subject: 'Our sale', from_email: 'news@example.com', html: '<p>Hello</p>' };

async function draft() {
  const api = await readyProject();
  const [group] = (await api.get('/v1/groups')).body.data;
  const { id } = (await api.post('/v1/campaigns', { ...LETTER, group_ids: [group.id] })).body.data;
  return { api, id: id as string };
}

inBrowser('A/B tests', () => {
  test('a draft becomes a test, whose settings and variants are edited, which is started, and whose winner is chosen', async () => {
    const { api, id } = await draft();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByRole('button', { name: 'Create A/B test' }).click();
    await page.getByRole('heading', { name: 'Sale', level: 1 }).waitFor();
    await page.locator('.place[aria-current=page]', { hasText: 'Campaigns' }).waitFor();
    const settings = page.getByRole('region', { name: 'Settings' });
    await settings.getByLabel('Variants').fill('3');
    await settings.getByLabel('Sample').fill('50');
    await settings.getByLabel('Duration in hours').fill('4');
    await settings.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Settings saved.').waitFor();
    const variants = page.getByRole('table', { name: 'Variants' });
    await variants.getByRole('link', { name: 'C: Our sale' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);

    await variants.getByRole('link', { name: 'B: Our sale' }).click();
    await page.getByText('All variants of the A/B test have this audience').waitFor();
    await page.getByText('1 person in the audience now.').waitFor();
    await page.getByText('Ready to send.').waitFor();
    expect(await page.getByText('Estimated sending time').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Send now' }).count()).toBe(0);
    {
      await using viewer = await windowOf(api, 'viewer');
      await viewer.page.goto(page.url());
      await viewer.page.getByRole('link', { name: 'Go to the A/B test' }).waitFor();
      expect(await viewer.page.getByRole('button', { name: 'Send test email' }).count()).toBe(0);
    }
    await page.getByRole('textbox', { name: 'Subject' }).fill('Only this week');
    await page.getByRole('link', { name: 'Go to the A/B test' }).click();
    await variants.getByRole('link', { name: 'B: Only this week' }).waitFor();

    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('3 variants go to 50% of the audience').waitFor();
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByText('The winner is chosen in 4 hours.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Choose winner' }).click();
    await dialog.getByRole('combobox', { name: 'Winner' }).click();
    await page.getByRole('option', { name: 'B: Only this week' }).click();
    await dialog.getByRole('button', { name: 'Choose' }).click();
    await page.getByText('Variant B won, as chosen by A Person').waitFor();
    await page.getByRole('link', { name: 'Sale (B) (winner)' }).waitFor();
    await variants.getByText('Won').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    const [made] = (await api.get('/v1/ab-tests')).body.data;
    expect(made).toMatchObject({ status: 'completed', samplePercent: 50, durationHours: 4 });

    await page.getByRole('link', { name: 'A/B tests' }).click();
    await page.getByRole('table', { name: 'A/B tests' }).getByRole('link', { name: 'Sale' }).waitFor();
  });

  test('a winner whose group was deleted gets another audience', async () => {
    const { api, id } = await draft();
    const { id: testId } = (await api.post('/v1/ab-tests', { campaign_id: id })).body.data;
    expect((await api.post(`/v1/ab-tests/${testId}/start`)).status).toBe(200);
    const choice = await api.post(`/v1/ab-tests/${testId}/choose-winner`, { campaign_id: id });
    expect(choice.status).toBe(200);
    const rest = choice.body.data.finalCampaignId;
    await pool.query(
      `UPDATE campaigns SET status = 'paused', pause_reason = 'groupIds: not found', group_ids = '{}' WHERE id = $1`,
      [rest],
    );
    const [group] = (await api.get('/v1/groups')).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${rest}`);
    await page.getByRole('button', { name: 'Audience' }).click();
    const dialog = page.getByRole('dialog', { name: 'Audience' });
    await dialog.getByRole('combobox', { name: 'Groups' }).click();
    await page.getByRole('option', { name: group.name }).click();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Update audience' }).click();
    await page.getByText('Audience updated.').waitFor();
    expect((await api.get(`/v1/campaigns/${rest}`)).body.data).toMatchObject({
      groupIds: [group.id],
      status: 'paused',
    });
  });

  test('a draft shows what others do to it, and keeps what is being typed', async () => {
    const { api, id } = await draft();
    const path = `/v1/ab-tests/${(await api.post('/v1/ab-tests', { campaign_id: id })).body.data.id}`;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(path.replace('/v1', ''));
    const settings = page.getByRole('region', { name: 'Settings' });
    const sample = settings.getByLabel('Sample');
    await sample.fill('50');
    await api.patch(path, { duration_hours: 4 });
    await soon(() => settings.getByLabel('Duration in hours').inputValue()).toBe('4');
    expect(await sample.inputValue()).toBe('50%');
    await settings.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Settings saved.').waitFor();

    await sample.fill('60');
    await api.patch(path, { sample_percent: 30 });
    await settings.getByText('Conflicting changes: sample.').waitFor();
    expect(await sample.inputValue()).toBe('60%');
    expect(await accessibilityViolations(page)).toEqual([]);
    await settings.getByRole('button', { name: 'Keep mine' }).click();
    await soon(async () => (await api.get(path)).body.data.samplePercent).toBe(60);

    await api.post(`${path}/start`);
    await page.getByText('The winner is chosen in 4 hours.').waitFor();
  });

  test('a test does not start while its settings are unsaved, and asks before it deletes variants', async () => {
    const { api, id } = await draft();
    const made = (await api.post('/v1/ab-tests', { campaign_id: id, variants: 4 })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/ab-tests/${made.id}`);
    const settings = page.getByRole('region', { name: 'Settings' });
    await settings.getByLabel('Variants').fill('2');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The settings have unsaved changes.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    const save = settings.getByRole('button', { name: 'Save settings' });
    await save.click();
    await dialog.getByText('Delete variants C and D?').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    expect((await api.get(`/v1/ab-tests/${made.id}`)).body.data.variantIds).toHaveLength(4);
    await settings.getByLabel('Variants').fill('3');
    await save.click();
    await dialog.getByText('Delete variant D?').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Settings saved.').waitFor();
    expect((await api.get(`/v1/ab-tests/${made.id}`)).body.data.variantIds).toEqual(made.variantIds.slice(0, 3));

    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await dialog.getByText('3 variants go to 20% of the audience').waitFor();
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByText('The winner is chosen').waitFor();
  });

  test('any variant of a draft is deleted after a question, but two stay', async () => {
    const { api, id } = await draft();
    const made = (await api.post('/v1/ab-tests', { campaign_id: id, variants: 3 })).body.data;
    const [a, , c] = made.variantIds;
    await api.patch(`/v1/campaigns/${c}`, { subject: 'Only today' });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/ab-tests/${made.id}`);
    await page.getByRole('button', { name: 'Delete variant B' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete variant B?' });
    await dialog.getByText('The variants after it move up by a letter.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Variant B was deleted.').waitFor();
    await page.getByRole('link', { name: 'B: Only today' }).waitFor();
    await page.getByText('Sale (B)').waitFor();
    await soon(() => page.getByRole('button', { name: /^Delete variant/ }).count()).toBe(0);
    await soon(() => page.getByRole('region', { name: 'Settings' }).getByLabel('Variants').inputValue()).toBe('2');
    expect((await api.get(`/v1/ab-tests/${made.id}`)).body.data.variantIds).toEqual([a, c]);
  });

  test('a test without a best variant says so, and how the winner was chosen', async () => {
    const { api, id } = await draft();
    const made = (await api.post('/v1/ab-tests', { campaign_id: id, sample_percent: 100 })).body.data;
    expect((await api.post(`/v1/ab-tests/${made.id}/start`)).status).toBe(200);
    await using window = await windowOf(api);
    const { page } = window;
    const decidedBy = async (decision: string, title: string) => {
      await pool.query(
        `UPDATE ab_tests SET status = 'completed', completed_at = now(), winner_id = $2, decision = $3::ab_test_decision WHERE id = $1`,
        [made.id, id, decision],
      );
      await window.open(`/ab-tests/${made.id}`);
      await page.getByText(title, { exact: true }).waitFor();
      return page.getByRole('table', { name: 'Variants' }).innerText();
    };
    expect(await decidedBy('tie', 'It was a tie, so variant A was chosen')).toContain('Chosen');
    expect(await decidedBy('no_reactions', 'There were no opens, so variant A was chosen')).toContain('Chosen');
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await decidedBy('best_rate', 'Variant A won')).toContain('Won');
    await page.getByText('It had the best rate of opens when the time was up.').waitFor();
  });

  test('the choice of a winner stays while another variant takes the lead', async () => {
    const { api, id } = await draft();
    const made = (await api.post('/v1/ab-tests', { campaign_id: id, sample_percent: 100 })).body.data;
    expect((await api.post(`/v1/ab-tests/${made.id}/start`)).status).toBe(200);
    const count = (opened: number, variant: string) =>
      pool.query('UPDATE campaigns SET accepted_count = 10, opened_count = $1 WHERE id = $2', [opened, variant]);
    await count(1, id);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/ab-tests/${made.id}`);
    const leads = page.getByRole('row', { includeHidden: true }).filter({ hasText: 'Leads' });
    await leads.getByRole('link', { name: /^A:/ }).waitFor();
    await page.getByRole('button', { name: 'Choose winner' }).click();
    const winner = page.getByRole('dialog').getByRole('combobox', { name: 'Winner' });
    expect(await winner.inputValue()).toMatch(/^A:/);
    await count(9, made.variantIds[1]);
    await leads.getByRole('link', { name: /^B:/, includeHidden: true }).waitFor();
    expect(await winner.inputValue()).toMatch(/^A:/);
  });

  test('the page of a draft that someone else deletes says so', async () => {
    const { api, id } = await draft();
    const { id: deleted } = (await api.post('/v1/ab-tests', { campaign_id: id })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/ab-tests/${deleted}`);
    await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
    await api.delete(`/v1/ab-tests/${deleted}`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
  });

  test('a test that cannot be started says which variant and why; deleting it leaves the draft', async () => {
    const { api, id } = await draft();
    const made = (await api.post('/v1/ab-tests', { campaign_id: id })).body.data;
    await api.patch(`/v1/campaigns/${made.variantIds[1]}`, { html: null });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/campaigns');
    await page.getByRole('link', { name: 'A/B tests' }).click();
    await page.getByRole('link', { name: 'Sale', exact: true }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Variant B: Content is required, unless a template is chosen').waitFor();
    expect(await dialog.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await api.patch(`/v1/campaigns/${made.variantIds[1]}`, { html: '<p>Hi {{plan}}</p>', track_opens: false });
    await page.reload();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await dialog.getByText('of the audience of 1 person now').waitFor();
    await dialog.getByText('Variant B: 1 recipient has no value for {{plan}}, and it has no default').waitFor();
    // Once for all variants.
    expect(await dialog.getByText('Postal address is not set').count()).toBe(1);
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByText('Variant B: Opens must be on, because opens decide the test.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'More for Sale' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog.getByLabel('Type Sale to confirm').fill('Sale');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No A/B tests yet').waitFor();
    await soon(async () => (await api.get(`/v1/campaigns/${id}`)).body.data.abTestId).toBeNull();
  });
});
