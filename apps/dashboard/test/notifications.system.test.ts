import { db, inTransaction } from '@postroom/platform';
import { type Notice, notify } from '@postroom/notifications';
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

/** A project with a paused campaign and a disabled endpoint, before any notification. */
async function troubled() {
  const api = await testApi();
  const campaign = (await api.post('/v1/campaigns', { name: 'Autumn news' })).body.data.id as string;
  const endpoint = (await api.post('/v1/webhooks', { url: 'https://example.com/hook', events: ['*'] })).body.data
    .id as string;
  const tell = (notice: Omit<Notice, 'advice'>) =>
    inTransaction((tx) => notify(tx, api.projectId, { ...notice, advice: 'Look at it:' }));
  return {
    api,
    campaign,
    endpoint,
    pauseCampaign: () =>
      tell({
        kind: 'campaign_paused',
        subjectId: campaign,
        title: 'The campaign "Autumn news" was paused',
        detail: '25 messages in a row were rejected. The last reply was: 550 5.7.1 Refused by policy',
      }),
    disableEndpoint: () =>
      tell({
        kind: 'endpoint_disabled',
        subjectId: endpoint,
        title: 'Webhooks to example.com were stopped',
        detail: 'No attempt has been acknowledged for 3 days.',
      }),
  };
}

inBrowser('notifications', () => {
  test('the bell counts what happens while the page is open, and leads to it by mouse', async () => {
    const { api, endpoint, pauseCampaign, disableEndpoint } = await troubled();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/members');
    const bell = page.getByRole('button', { name: /^Notifications/ });
    await soon(() => bell.getAttribute('aria-label')).toBe('Notifications');
    await pauseCampaign();
    await soon(() => bell.getAttribute('aria-label')).toBe('Notifications, 1 unread');
    await bell.click();
    await page.getByRole('menuitem', { name: /Autumn news/ }).waitFor();
    // What arrives while the menu is open appears in it.
    await disableEndpoint();
    await page.getByRole('menuitem', { name: /Unread: Webhooks to example\.com were stopped/ }).click();
    await page.waitForURL(`**/webhooks/${endpoint}`);
    await soon(() => bell.getAttribute('aria-label')).toBe('Notifications, 1 unread');
    await bell.click();
    await page.getByRole('menuitem', { name: 'Mark all as read' }).click();
    await soon(() => bell.getAttribute('aria-label')).toBe('Notifications');
    await soon(() => page.getByRole('menuitem', { name: /Unread/ }).count()).toBe(0);
    const left = await db.notificationRecipient.count({ where: { projectId: api.projectId, readAt: null } });
    expect(left).toBe(0);
  });

  test('the menu works by keyboard on a phone', async () => {
    const { api, campaign, pauseCampaign, disableEndpoint } = await troubled();
    const owner = await signedIn(api);
    await pauseCampaign();
    await disableEndpoint();
    await using window = await openWindow(api, owner, SIZES.phone);
    const { page } = window;
    await window.open('/members');
    const bell = page.getByRole('button', { name: 'Notifications, 2 unread' });
    await bell.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: /Autumn news/ }).waitFor();
    await page.keyboard.press('Escape');
    await soon(() => page.getByRole('menu').count()).toBe(0);
    await soon(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Notifications, 2 unread');
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: /Autumn news/ }).waitFor();
    const focused = () => page.evaluate('document.activeElement.textContent');
    await soon(focused).toBe('Mark all as read');
    for (const item of ['Unread: Webhooks to example.com', 'Unread: The campaign "Autumn news"']) {
      await page.keyboard.press('ArrowDown');
      await soon(focused).toContain(item);
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/campaigns/${campaign}`);
    await page.getByRole('button', { name: 'Notifications, 1 unread' }).waitFor();
  });

  test('the menu is accessible in both color schemes, and stays within a phone', async () => {
    const { api, pauseCampaign, disableEndpoint } = await troubled();
    const owner = await signedIn(api);
    await pauseCampaign();
    await disableEndpoint();
    for (const colorScheme of SCHEMES) {
      await using window = await openWindow(api, owner, { ...SIZES.phone, colorScheme });
      const { page } = window;
      await window.open('/members');
      await page.getByRole('button', { name: 'Notifications, 2 unread' }).click();
      await page.getByRole('menuitem', { name: /Autumn news/ }).waitFor();
      expect(await accessibilityViolations(page), colorScheme).toEqual([]);
      const box = await page.getByRole('menu').boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(SIZES.phone.width);
    }
  });

  test('members without the right to manage the project have no bell', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'member');
    await window.open('/members');
    expect(await window.page.getByRole('button', { name: /^Notifications/ }).count()).toBe(0);
  });

  test('the page lists all of them and pages on, by mouse and keyboard; without any, nothing is to be marked as read', async () => {
    const { api, campaign, pauseCampaign, disableEndpoint } = await troubled();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/members');
    await page.getByRole('button', { name: 'Notifications', exact: true }).click();
    await page.getByText('No notifications yet').waitFor();
    expect(await page.getByRole('menuitem', { name: 'Mark all as read' }).count()).toBe(0);
    await page.getByRole('menuitem', { name: 'All notifications' }).click();
    await page.getByRole('heading', { level: 2, name: 'No notifications yet' }).waitFor();
    expect(await page.getByRole('button', { name: 'Mark all as read' }).count()).toBe(0);

    await pauseCampaign();
    for (let count = 0; count < 50; count++) await disableEndpoint();
    const rows = page.getByRole('table', { name: 'Notifications' }).locator('tbody tr');
    await soon(() => rows.count()).toBe(50);
    await page.getByRole('link', { name: 'Next' }).focus();
    await page.keyboard.press('Enter');
    await soon(() => rows.count()).toBe(1);
    await page.getByRole('link', { name: 'Unread: The campaign "Autumn news" was paused' }).click();
    await page.waitForURL(`**/campaigns/${campaign}`);
    await page.getByRole('button', { name: 'Notifications, 50 unread' }).click();
    await page.getByRole('menuitem', { name: 'All notifications' }).click();
    await soon(() => rows.count()).toBe(50);
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await soon(() => page.getByRole('button', { name: 'Mark all as read' }).count()).toBe(0);
    expect(await db.notificationRecipient.count({ where: { projectId: api.projectId, readAt: null } })).toBe(0);
    await expectAccessible(api, window.person, '/notifications', 'Webhooks to example.com');
  });

  test('each user turns off their own emails of notifications on the account page', async () => {
    const api = await testApi();
    const other = await signedIn(api);
    await using window = await windowOf(api);
    const { page, person } = window;
    await window.open('/account');
    const emails = page.getByRole('switch', { name: 'Email me notifications' });
    await soon(() => emails.isChecked()).toBe(true);
    await emails.focus();
    await page.keyboard.press('Space');
    await soon(() => db.notificationSettings.findUnique({ where: { userId: person.id } })).toMatchObject({
      emails: false,
    });
    await page.reload();
    await soon(() => emails.isChecked()).toBe(false);
    await using others = await openWindow(api, other);
    await others.open('/account');
    const theirs = others.page.getByRole('switch', { name: 'Email me notifications' });
    await soon(() => theirs.isChecked()).toBe(true);
    await emails.click();
    await soon(() => emails.isChecked()).toBe(true);
    await soon(() => db.notificationSettings.findUnique({ where: { userId: person.id } })).toMatchObject({
      emails: true,
    });
  });
});
