import { readFileSync } from 'node:fs';
import { db } from '@postroom/platform';
import { createApiKey } from '@postroom/projects';
import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import {
  accessibilityViolations,
  chooseByKeyboard,
  expectAccessible,
  holdRequests,
  inBrowser,
  openWindow,
  PNG,
  SCHEMES,
  SIZES,
  soon,
  windowOf,
} from './browser.ts';

inBrowser('API keys', () => {
  test('a key is shown once, works immediately, and its dialog stays until confirmed', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, context } = window;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await window.open('/keys');
    await page.getByRole('button', { name: 'Create API key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Create API key' }).click();
    await dialog.getByText('Enter a name').waitFor();
    await dialog.getByLabel('Name').fill('Shop');
    await dialog.getByRole('radio', { name: 'Full access' }).check();
    await dialog.getByRole('button', { name: 'Create API key' }).click();
    await dialog.getByText('Save your API key').waitFor();
    await soon(() => page.evaluate('document.activeElement.textContent')).toMatch(/^Copy it now/);
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await dialog.getByRole('button', { name: 'Copy: Key', exact: true }).click();
    const key = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(key).toMatch(/^pr_[0-9A-Za-z]{40}$/);
    expect(await dialog.getByText(`POSTROOM_API_KEY=${key}`).count()).toBe(1);
    expect(await dialog.getByText(`Authorization: Bearer ${key}`).count()).toBe(1);
    expect((await api.send('GET', '/v1/projects', { key })).status).toBe(200);
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByText(key).count()).toBe(0);

    const row = page.getByRole('row').filter({ hasText: 'Shop' });
    expect(await row.getByRole('cell').allTextContents()).toContain('A Person');

    await page.getByRole('button', { name: 'Revoke Shop' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('Shop');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Shop was revoked.').waitFor();
    expect((await api.send('GET', '/v1/projects', { key })).status).toBe(401);
    await page.getByRole('row').filter({ hasText: 'Shop' }).getByText('Revoked').waitFor();
  });

  test('a key shared with another project is removed from this one; an installation key is left alone', async () => {
    const [api, other] = [await testApi(), await testApi()];
    const { key } = await createApiKey({ name: 'Both', scope: 'full', projects: [api.projectId, other.projectId] });
    await createApiKey({ name: 'Installation', scope: 'full', projects: 'all' });
    await using window = await windowOf(api, 'admin');
    const { page } = window;
    await window.open('/keys');
    await page.getByRole('cell', { name: 'Installation' }).first().waitFor();
    expect(await page.getByRole('button', { name: /(Revoke|Remove) Installation/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Remove Both' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('Both');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText(/Both no longer has access to/).waitFor();
    const status = async (project: string) =>
      (await api.send('GET', '/v1/groups', { key, headers: { 'X-Project-Id': project } })).status;
    expect([await status(api.projectId), await status(other.projectId)]).toEqual([403, 200]);
  });

  test('an admin is not offered what only owners may: a key for all projects, and removing an owner', async () => {
    const api = await testApi();
    const owner = await signedIn(api);
    await using window = await windowOf(api, 'admin');
    const { page } = window;
    await window.open('/keys');
    await page.getByRole('button', { name: 'Create API key' }).click();
    await soon(() => page.getByLabel('All projects, including future ones').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await window.open('/members');
    const row = page.getByRole('row').filter({ hasText: owner.email });
    await row.waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
  });

  test('a member is not offered API keys, and the URL explains why', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'member');
    await window.open('/keys');
    await window.page.getByText('Your role in this project, member, does not include it.').waitFor();
  });
});

inBrowser('a project', () => {
  test('is renamed, and a second one is created and opened', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/settings');
    await page.getByLabel('Name', { exact: true }).fill('Better name');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByRole('button', { name: 'Project Better name. Switch project' }).click();
    await page.getByRole('menuitem', { name: 'New project' }).click();
    const sent: string[] = [];
    const release = await holdRequests(page, '**/graphql', (request) => {
      const { query } = request.postDataJSON() as { query: string };
      const [name = ''] = /(?<=^(?:query|mutation) )\w+/.exec(query) ?? [];
      sent.push(name);
      return name === 'Me' && sent.includes('CreateProject');
    });
    const name = page.getByRole('dialog').getByLabel('Name');
    await name.fill('Second');
    await name.press('Enter');
    // The project exists, and is opened once the session lists it.
    await soon(() => sent.slice(sent.indexOf('CreateProject'))).toContain('Me');
    await name.press('Enter');
    release();
    await page.getByRole('button', { name: 'Project Second. Switch project' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    expect(sent.filter((each) => each === 'CreateProject')).toHaveLength(1);
    expect(page.url()).not.toContain(api.projectId);
    const project = await db.project.findUniqueOrThrow({ where: { id: api.projectId } });
    expect(project.name).toBe('Better name');
  });
});

inBrowser('retention', () => {
  test('of messages, events and custom events is set separately and reset to the server default', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    const kept = async () => {
      const project = await db.project.findUniqueOrThrow({ where: { id: api.projectId } });
      return [project.messageRetentionDays, project.eventRetentionDays, project.customEventRetentionDays];
    };
    await window.open('/settings');
    const [messages, events] = [
      page.getByRole('combobox', { name: 'Keep messages' }),
      page.getByRole('combobox', { name: 'Keep events' }),
    ];
    expect(await messages.inputValue()).toBe('Forever, the server default');
    expect(await events.inputValue()).toBe('30 days, the server default');
    await events.click();
    await page.getByRole('option', { name: '7 days', exact: true }).click();
    await page.getByText('Kept for 7 days from now on.').waitFor();
    expect(await kept()).toEqual([null, 7, null]);
    await messages.click();
    await page.getByRole('option', { name: '1 year', exact: true }).last().click();
    await soon(kept).toEqual([365, 7, null]);
    await soon(() => events.inputValue()).toBe('7 days');
    await events.click();
    await page.getByRole('option', { name: 'Server default' }).click();
    await soon(kept).toEqual([365, null, null]);
    const customEvents = page.getByRole('combobox', { name: 'Keep custom events' });
    expect(await customEvents.inputValue()).toBe('1 year, the server default');
    await customEvents.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: '30 days', exact: true }).waitFor();
    await chooseByKeyboard(page, '30 days');
    await soon(kept).toEqual([365, null, 30]);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('is read-only for a member', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'member');
    await window.open('/settings');
    expect(await window.page.getByRole('combobox', { name: 'Keep events' }).isDisabled()).toBe(true);
  });
});

inBrowser('the brand', () => {
  test('has a brand color that is set, validated and removed', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/settings');
    const section = page.getByRole('region', { name: 'Branding' });
    const colorOf = async () => (await db.project.findUniqueOrThrow({ where: { id: api.projectId } })).brandColor;
    const save = async (color: string) => {
      await section.getByLabel('Brand color').fill(color);
      await section.getByRole('button', { name: 'Save' }).click();
    };
    await save('green');
    await soon(() => section.getByLabel('Brand color').getAttribute('aria-invalid')).toBe('true');
    await save('#1f5eff');
    await soon(colorOf).toBe('#1f5eff');
    await soon(() => section.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await save('');
    await soon(colorOf).toBeNull();
  });
});

inBrowser('the logo', () => {
  test('is uploaded by keyboard, shown and removed', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, person } = window;
    await window.open('/settings');
    const section = page.getByRole('region', { name: 'Branding' });
    const choose = async (button: string, name: string, buffer: Buffer) => {
      const chosen = page.waitForEvent('filechooser');
      await section.getByRole('button', { name: button }).focus();
      await page.keyboard.press('Enter');
      await (await chosen).setFiles({ name, mimeType: 'image/png', buffer });
    };
    await choose('Upload logo', 'large.png', Buffer.alloc(201 * 1024));
    await section.getByText('Choose an image of at most 200 KB.').waitFor();
    await choose('Upload logo', 'page.png', Buffer.from('<!doctype html>'));
    await section.getByText(/must be a PNG, JPEG or WebP image/i).waitFor();
    await choose('Upload logo', 'logo.png', PNG);
    const shown = section.getByRole('img', { name: 'The current logo' });
    await shown.waitFor();
    await soon(() => shown.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
    await section.getByRole('button', { name: 'Replace logo' }).waitFor();
    await expectAccessible(api, person, '/settings', 'Replace logo');
    await section.getByRole('button', { name: 'Remove logo' }).click();
    await section.getByRole('button', { name: 'Upload logo' }).waitFor();
    expect(await db.projectLogo.count({ where: { projectId: api.projectId } })).toBe(0);
  });
});

inBrowser('the audit log', () => {
  test('is paginated with shareable URLs', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, person } = window;
    await db.auditEntry.createMany({
      data: Array.from({ length: 120 }, (_, index) => ({
        id: `aud_${String(index).padStart(26, '0')}`.replace(/^aud_0{3}/, `aud_01${index % 10}`),
        projectId: api.projectId,
        actorId: person.id,
        action: 'createTemplate',
        targetId: `tpl_${index}`,
      })),
      skipDuplicates: true,
    });
    await window.open('/audit');
    // The third cell is the target. The last one is a relative time, which changes during the test.
    const target = () =>
      page.getByRole('table', { name: 'Audit log' }).locator('tbody tr').first().locator('td').nth(2).textContent();
    const first = await target();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL(/after=/);
    await soon(target).not.toBe(first);
    const second = await target();
    await page.reload();
    await soon(target).toBe(second);
    await page.getByRole('link', { name: 'Next' }).click();
    await soon(target).not.toBe(second);
    await page.getByRole('link', { name: 'Previous' }).click();
    await soon(target).toBe(second);
    await page.getByRole('link', { name: 'Previous' }).click();
    await soon(target).toBe(first);
    const link = page.getByRole('table', { name: 'Audit log' }).getByRole('link').first();
    expect(await link.getAttribute('href')).toBe(`/p/${api.projectId}/templates/${await link.textContent()}`);
  });

  /** A project with changes by two people and a key. */
  async function changed() {
    const api = await testApi();
    const [owner, admin] = [await signedIn(api), await signedIn(api, 'admin')];
    await db.user.update({ where: { id: admin.id }, data: { name: 'Grace Hopper' } });
    const { id } = (await api.post('/v1/campaigns', { name: 'News', subject: 'Hello' })).body.data;
    const update =
      'mutation ($id: ID!, $input: UpdateCampaignInput!) { updateCampaign(id: $id, input: $input) { id } }';
    await admin.graphql(update, { id, input: { subject: 'Hello again' } });
    await owner.graphql('mutation { setBrandColor(color: "#1f5eff") { id } }');
    return { api, owner, admin, campaign: id };
  }

  test('filters by mouse, keeps them in the URL, and exports what they show', async () => {
    const { api, owner, admin, campaign } = await changed();
    await using window = await openWindow(api, owner);
    const { page } = window;
    await window.open('/audit');
    const rows = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr');
    await soon(() => rows.count()).toBe(3);
    await page.getByRole('combobox', { name: 'Who' }).click();
    await page.getByRole('option', { name: 'Grace Hopper' }).click();
    await soon(() => rows.count()).toBe(1);
    await page.waitForURL(new RegExp(`actor=${admin.id}`));
    await page.reload();
    await soon(() => rows.count()).toBe(1);
    await soon(() => page.getByRole('combobox', { name: 'Who' }).inputValue()).toBe('Grace Hopper');
    expect(await rows.getByRole('link', { name: 'News' }).getAttribute('href')).toBe(
      `/p/${api.projectId}/campaigns/${campaign}`,
    );
    await rows.locator('summary').click();
    await rows.getByText('Hello again').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export' }).click();
    const file = readFileSync(await (await download).path(), 'utf8');
    expect(file.trim().split('\r\n')).toHaveLength(2);
    expect(file).toContain('Grace Hopper,updateCampaign,Changed campaign,campaign');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await soon(() => rows.count()).toBe(3);
  });

  test('filters and shows changes by keyboard', async () => {
    const { api, owner } = await changed();
    await using window = await openWindow(api, owner);
    const { page } = window;
    await window.open('/audit');
    const rows = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr');
    await soon(() => rows.count()).toBe(3);
    await page.getByRole('combobox', { name: 'Kind of object' }).focus();
    await page.keyboard.type('proj');
    await chooseByKeyboard(page, 'Project');
    await page.waitForURL(/kind=project/);
    await soon(() => rows.count()).toBe(1);
    await rows.locator('summary').focus();
    await page.keyboard.press('Enter');
    await rows.getByText('#1f5eff').waitFor();
    const last = page.getByLabel('Last day');
    await last.focus();
    await last.fill('2020-01-01');
    await page.keyboard.press('Enter');
    await page.waitForURL(/to=2020-01-01/);
    await page.getByText('No change matches these filters.').waitFor();
  });

  test('is accessible in both color schemes with a change open', async () => {
    const { api, owner } = await changed();
    for (const colorScheme of SCHEMES) {
      await using window = await openWindow(api, owner, { ...SIZES.desktop, colorScheme });
      const { page } = window;
      await window.open('/audit?kind=campaign');
      await page.locator('summary').click();
      await page.getByText('Hello again').waitFor();
      expect(await accessibilityViolations(page), colorScheme).toEqual([]);
    }
  });
});
