import { createHmac, randomBytes } from 'node:crypto';
import { config, db } from '@postroom/platform';
import { type SignedIn, signedIn, takeSystemMail, TEST_PASSWORD, testApi } from '@postroom/testkit';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { accessibilityViolations, holdRequests, inBrowser, openWindow, soon, windowOf } from './browser.ts';

inBrowser('signing in', () => {
  test('a user signs in, returns to the requested page, and signs out', async () => {
    const api = await testApi();
    const person = await signedIn(api);
    await using window = await openWindow(api);
    const { page } = window;
    await page.goto(`/p/${api.projectId}/audit`);
    await page.waitForURL(/\/sign-in\?to=/);
    await fill(page, person.email, 'wrong wrong wrong');
    await page.getByRole('alert').getByText('Invalid email or password').waitFor();
    expect(await page.getByLabel('Email').inputValue()).toBe(person.email);
    await fill(page, person.email, TEST_PASSWORD);
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();

    await page.getByRole('button', { name: /Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`/p/${api.projectId}/audit`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('the session cookie is HttpOnly and pages are not cached', async () => {
    const api = await testApi();
    const person = await signedIn(api);
    await using window = await openWindow(api);
    const { page, context } = window;
    const response = await page.goto('/sign-in');
    await fill(page, person.email, TEST_PASSWORD);
    await page.waitForURL(/\/p\//);
    expect(await page.evaluate('document.cookie')).toBe('');
    const cookies = await context.cookies();
    expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]).sort()).toEqual([
      ['postroom.device', true, 'Lax'],
      ['postroom.session_token', true, 'Lax'],
    ]);
    const headers = response?.headers() ?? {};
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    const again = await page.goto(`/p/${api.projectId}/keys`);
    expect(again?.headers()['content-security-policy']).not.toBe(headers['content-security-policy']);
  });

  test.each([
    '//evil.example/steal',
    '/%09/evil.example',
    '/%5Cevil.example',
    '/..//evil.example',
    'https://evil.example',
  ])('a link to sign in never leads to another site afterwards: %s', async (to) => {
    const api = await testApi();
    const person = await signedIn(api);
    await using window = await openWindow(api);
    const { page } = window;
    await page.goto(`/sign-in?to=${to}`);
    await fill(page, person.email, TEST_PASSWORD);
    await page.waitForURL(new RegExp(`^${config.PUBLIC_URL}/p/${api.projectId}$`));
  });

  test('a second factor is set up, required, and replaced once by a backup code', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, person } = window;
    const { secret, codes } = await setUpFactor(page, `/p/${api.projectId}/account`);
    expect(codes.length).toBeGreaterThanOrEqual(8);

    await using other = await openWindow(api);
    await other.page.goto('/sign-in');
    await fill(other.page, person.email, TEST_PASSWORD);
    await other.page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor();
    await typeCode(other.page, '000000');
    await other.page.getByRole('alert').waitFor();
    // The code from the setup has been used.
    await typeCode(other.page, totp(secret, 1));
    await other.page.waitForURL(/\/p\//);

    await using third = await openWindow(api);
    await third.page.goto('/sign-in');
    await fill(third.page, person.email, TEST_PASSWORD);
    await third.page.getByRole('button', { name: 'Use a backup code' }).click();
    const sent: string[] = [];
    third.page.on('request', (request) => sent.push(new URL(request.url()).pathname));
    const release = await holdRequests(third.page, '**/verify-backup-code');
    const input = third.page.getByLabel('Backup code');
    // As a person may have written it down.
    await input.fill(` ${codes[0]?.replace('-', ' ')} `);
    await input.press('Enter');
    await input.press('Enter');
    release();
    await third.page.waitForURL(/\/p\//);
    expect(sent.filter((path) => path.endsWith('/verify-backup-code'))).toHaveLength(1);
  });

  test('a sign-in that ends before its code begins again, with the reason', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { person } = window;
    await setUpFactor(window.page, `/p/${api.projectId}/account`);
    await using other = await openWindow(api);
    const { page } = other;
    await page.goto('/sign-in');
    await fill(page, person.email, TEST_PASSWORD);
    await typeCode(page, '000000');
    await page.getByRole('alert').getByText('Invalid code').waitFor();
    await page.getByRole('button', { name: 'Use a backup code' }).click();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('button', { name: 'Use authenticator app' }).click();
    await db.verification.deleteMany({ where: { value: person.id } });
    await typeCode(page, '000000');
    await page.getByRole('alert').getByText('This sign-in took too long. Sign in again.').waitFor();
    await fill(page, person.email, TEST_PASSWORD);
    await db.twoFactor.updateMany({
      where: { userId: person.id },
      data: { lockedUntil: new Date(Date.now() + 600_000) },
    });
    await typeCode(page, '000000');
    await page.getByRole('alert').getByText('locked for up to 15 minutes').waitFor();
    await page.getByRole('button', { name: 'Back to sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a user changes their email address, confirms it in another browser, and stays signed in', async () => {
    const api = await testApi();
    await using mail = await takeSystemMail();
    await using window = await windowOf(api);
    const { page, person } = window;
    const email = `${randomBytes(6).toString('hex')}@new.example`;
    await page.goto(`/p/${api.projectId}/account`);
    await page.getByRole('button', { name: 'Change email address' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('New email').fill(email);
    await dialog.getByLabel('Password', { exact: true }).fill('wrong wrong wrong');
    await dialog.getByRole('button', { name: 'Send link' }).click();
    await dialog.getByText('Is not your password').waitFor();
    expect(await dialog.getByLabel('New email').inputValue()).toBe(email);
    await dialog.getByLabel('Password', { exact: true }).fill(TEST_PASSWORD);
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Send link' }).click();
    await dialog.getByText(`Until then you sign in with ${person.email}`).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText(`Changes to ${email} when you open the link`).waitFor();

    const link = (await mail.linkTo(email)).replace(config.PUBLIC_URL, '');
    await using other = await openWindow(api);
    await other.page.goto(link);
    await fill(other.page, person.email, TEST_PASSWORD);
    await other.page.getByText(`instead of ${person.email}`).waitFor();
    expect(await accessibilityViolations(other.page)).toEqual([]);
    await other.page.getByRole('button', { name: 'Change my email address' }).click();
    await other.page.getByText(`You now sign in with ${email}.`).waitFor();
    await page.reload();
    await page.getByText('You sign in with this address.').waitFor();
    await page.getByText(email, { exact: true }).waitFor();
    await page.goto(link);
    await page.getByText('This link has expired or was already used').waitFor();
  });

  test('a reset link that was used leads to a new one, also from a page that was open', async () => {
    const api = await testApi();
    const person = await signedIn(api);
    await using mail = await takeSystemMail();
    await using window = await openWindow(api);
    const { page } = window;
    await page.goto('/reset-password');
    await page.getByLabel('Email').fill('ada@people');
    await page.getByRole('button', { name: 'Send reset link' }).click();
    await page
      .getByRole('alert')
      .getByText(/^Invalid email address\.$/)
      .waitFor();
    await page.getByLabel('Email').fill(person.email);
    await page.getByRole('button', { name: 'Send reset link' }).click();
    const link = (await mail.linkTo(person.email)).replace(config.PUBLIC_URL, '');
    await page.goto(link);
    await page.getByLabel('New password', { exact: true }).fill('another horse battery');
    await db.verification.deleteMany({ where: { value: person.id } });
    await page.getByRole('button', { name: 'Change password' }).click();
    const refusal = page.getByRole('alert').getByText('This link has expired or was already used. Request a new one.');
    await refusal.waitFor();
    await page.goto(link);
    await refusal.waitFor();
    await page.getByRole('button', { name: 'Send reset link' }).waitFor();
  });

  test('a password is reset by email, and all sessions are signed out', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { person, page: signedInPage } = window;
    await using stranger = await openWindow(api);
    const { page } = stranger;
    await page.goto('/reset-password');
    await page.getByLabel('Email').fill(person.email);
    await page.getByRole('button', { name: 'Send reset link' }).click();
    await page.getByText('we sent a link to it').waitFor();

    const { identifier } = await db.verification.findFirstOrThrow({ where: { value: person.id } });
    await page.goto(`/reset-password?token=${identifier.replace('reset-password:', '')}`);
    await page.getByLabel('New password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Use at least 10 characters').waitFor();
    await page.getByLabel('New password', { exact: true }).fill('another horse battery');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await fill(page, person.email, 'another horse battery');
    await page.waitForURL(/\/p\//);

    await signedInPage.goto(`/p/${api.projectId}/keys`);
    await signedInPage.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});

inBrowser('invitations', () => {
  test('an invited member joins by email link and sees what their role allows', async () => {
    const api = await testApi();
    await using mail = await takeSystemMail();
    const email = `${randomBytes(5).toString('hex')}@people.example`;
    await using owner = await windowOf(api);
    await owner.open('/members');
    await owner.page.getByRole('button', { name: 'Invite' }).click();
    const dialog = owner.page.getByRole('dialog');
    await dialog.getByLabel('Email').fill(email);
    await dialog.getByRole('radio', { name: 'Viewer' }).check();
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog.getByRole('status').getByText(email).waitFor();
    const link = await mail.linkTo(email);
    expect(await owner.page.content()).not.toContain(new URL(link).searchParams.get('token'));
    await dialog.getByRole('button', { name: 'Done' }).click();
    await owner.page.getByRole('cell', { name: email, exact: true }).waitFor();

    await using guest = await openWindow(api);
    const { page } = guest;
    await page.goto(link.replace(config.PUBLIC_URL, ''));
    await page.getByLabel('Your name').fill('Grace Hopper');
    await page.getByLabel('Password', { exact: true }).fill('nanoseconds count');
    await db.rateLimit.deleteMany({ where: { key: { endsWith: '/sign-in/email' } } });
    await page.getByRole('button', { name: 'Join project' }).click();
    await page.waitForURL(`**/p/${api.projectId}`);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Members' }).click();
    await page.getByRole('table', { name: 'Members' }).getByText('Grace Hopper').waitFor();
    expect(await page.getByRole('button', { name: 'Invite' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0);

    await page.goto(link.replace(config.PUBLIC_URL, ''));
    await page.getByText('This invitation is no longer valid').waitFor();
    expect(await page.locator('form, input').count()).toBe(0);
  });

  test('an existing user signs in and joins', async () => {
    const [api, other] = [await testApi(), await testApi()];
    const [owner, guest] = [await signedIn(api), await signedIn(other)];
    await using mail = await takeSystemMail();
    await owner.graphql('mutation ($input: InviteInput!) { invite(input: $input) { id } }', {
      input: { email: guest.email, role: 'member' },
    });
    await using window = await openWindow(api);
    const { page } = window;
    await page.goto((await mail.linkTo(guest.email)).replace(config.PUBLIC_URL, ''));
    await page.getByRole('link', { name: 'Sign in' }).click();
    await fill(page, guest.email, TEST_PASSWORD);
    await page.getByRole('button', { name: 'Join with my account' }).click();
    await page.waitForURL(`**/p/${api.projectId}`);
  });

  test('without system mail the page says what to configure', async () => {
    const before = config.SMTP_URL;
    delete config.SMTP_URL;
    onTestFinished(() => {
      config.SMTP_URL = before;
    });
    await using owner = await windowOf(await testApi());
    await owner.open('/members');
    await owner.page.getByRole('button', { name: 'Invite' }).click();
    const dialog = owner.page.getByRole('dialog');
    await dialog.getByLabel('Email').fill('ada@people.example');
    await dialog.getByRole('button', { name: 'Send invitation' }).click();
    await dialog.getByText(/Set SMTP_URL and SYSTEM_MAIL_FROM/).waitFor();
  });
});

inBrowser('members', () => {
  test('a role is changed and a member removed; the last owner stays', async () => {
    const api = await testApi();
    const other: SignedIn = await signedIn(api, 'viewer');
    await using window = await windowOf(api);
    const { page, person } = window;
    await window.open('/members');
    const row = page.getByRole('row').filter({ hasText: other.email });
    await row.getByRole('combobox', { name: /Role of/ }).click();
    await page.getByRole('option', { name: 'Admin' }).click();
    await page.getByText('is an admin now').waitFor();
    expect((await db.member.findFirstOrThrow({ where: { userId: other.id } })).role).toBe('admin');

    // What they granted would end, so that is a question.
    await row.getByRole('combobox', { name: /Role of/ }).click();
    await page.getByRole('option', { name: 'Member' }).click();
    await page.getByRole('dialog').getByText('API keys that they created').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await db.member.findFirstOrThrow({ where: { userId: other.id } })).role).toBe('admin');
    await row.getByRole('combobox', { name: /Role of/ }).click();
    await page.getByRole('option', { name: 'Member' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
    await page.getByText('is a member now').waitFor();

    await page.getByRole('row').filter({ hasText: person.email }).getByRole('button', { name: /Leave/ }).click();
    await page.getByRole('dialog').getByRole('textbox').fill(person.email);
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByText('A project must have at least one owner.').waitFor();
    await page.keyboard.press('Escape');

    await row.getByRole('button', { name: /Remove/ }).click();
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Remove' });
    expect(await remove.isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('textbox').fill(other.email);
    await remove.click();
    await row.waitFor({ state: 'detached' });
  });

  test('a viewer leaves a project, and cannot remove anyone else', async () => {
    const [api, other] = [await testApi(), await testApi()];
    await using window = await windowOf(api, 'viewer');
    const { page, person } = window;
    const colleague = await signedIn(api);
    await db.member.create({ data: { projectId: other.projectId, userId: person.id, role: 'viewer' } });
    await window.open('/members');
    await page.getByText(colleague.email).waitFor();
    expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(0);
    await page.getByRole('button', { name: /^Leave/ }).click();
    await page.getByRole('dialog').getByRole('textbox').fill(person.email);
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Your projects' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'You are no longer a member of ' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    const { name = '' } = (await db.project.findUnique({ where: { id: other.projectId } })) ?? {};
    await page.getByRole('link', { name, exact: true }).click();
    await page.waitForURL(`**/p/${other.projectId}`);
    expect(await db.member.findMany({ where: { userId: person.id } })).toMatchObject([{ projectId: other.projectId }]);
  });
});

inBrowser('your account', () => {
  test('a user of the provider, who has no password, gets one by email', async () => {
    const api = await testApi();
    await using mail = await takeSystemMail();
    await using window = await windowOf(api);
    const { page, person } = window;
    await db.account.updateMany({ where: { userId: person.id }, data: { providerId: 'oidc', password: null } });
    await window.open('/account');
    await page.getByText('You have no password').waitFor();
    await page.getByText('Your provider is responsible for it.').waitFor();
    expect(await page.getByLabel('Current password').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Set up' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Change email address' }).click();
    await page.getByRole('dialog').getByLabel('New email').waitFor();
    expect(await page.getByRole('dialog').getByLabel('Password').count()).toBe(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Set a password' }).click();
    await page.getByText(`We sent a link to ${person.email}.`).waitFor();
    await page.goto((await mail.linkTo(person.email)).replace(config.PUBLIC_URL, ''));
    await page.getByLabel('New password', { exact: true }).fill('another horse battery');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await fill(page, person.email, 'another horse battery');
    await page.waitForURL(/\/p\//);
    await window.open('/account');
    await page.getByLabel('Current password').waitFor();
    await page.getByRole('button', { name: 'Set up' }).waitFor();
  });

  test('name and password are changed, and other sessions are signed out', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, person } = window;
    await window.open('/account');
    await page.getByLabel('Name', { exact: true }).fill('Ada King');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Signed in as Ada King. Open account menu' }).waitFor();

    await page.getByLabel('Current password').fill('not my password');
    await page.getByLabel('New password', { exact: true }).fill('a longer password');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('alert').getByText('Invalid password').waitFor();
    expect(await page.getByLabel('New password', { exact: true }).inputValue()).toBe('a longer password');
    await page.getByLabel('Current password').fill(TEST_PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed.').waitFor();

    await using other = await openWindow(api);
    await other.page.goto('/sign-in');
    await fill(other.page, person.email, 'a longer password');
    await other.page.waitForURL(/\/p\//);
    await page.reload();
    const sessions = page.getByRole('table', { name: 'Sessions' });
    await sessions.getByRole('button', { name: /Sign out/ }).click();
    await sessions.getByRole('button', { name: /Sign out/ }).waitFor({ state: 'detached' });
    await other.page.reload();
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});

/** All test browsers share one address, whose sign-ins are rate-limited, so each test starts with a new allowance. */
async function fill(page: Page, email: string, password: string): Promise<void> {
  await db.rateLimit.deleteMany({ where: { key: { endsWith: '/sign-in/email' } } });
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function typeCode(page: Page, code: string): Promise<void> {
  await db.rateLimit.deleteMany({ where: { key: { contains: '/two-factor/' } } });
  await page.getByRole('textbox', { name: 'Digit 1 of 6' }).focus();
  await page.keyboard.type(code);
}

async function setUpFactor(page: Page, path: string): Promise<{ secret: string; codes: string[] }> {
  await page.goto(path);
  await page.getByRole('button', { name: 'Set up' }).click();
  await page.getByRole('dialog').getByLabel('Password', { exact: true }).fill(TEST_PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set up two-factor authentication' });
  await dialog.getByRole('img', { name: /QR code/ }).waitFor();
  const secret = (await dialog.locator('code').first().textContent()) ?? '';
  const sent: string[] = [];
  page.on('request', (request) => sent.push(new URL(request.url()).pathname));
  const release = await holdRequests(page, '**/verify-totp');
  const code = totp(secret);
  await typeCode(page, code);
  await soon(() => sent.filter((each) => each.endsWith('/verify-totp'))).toHaveLength(1);
  await page.keyboard.press('Backspace');
  await page.keyboard.type(code.slice(-1));
  release();
  const save = page.getByRole('dialog', { name: 'Save your backup codes' });
  await save.waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  expect(sent.filter((each) => each.endsWith('/verify-totp'))).toHaveLength(1);
  const codes = await save.locator('.mono span').allTextContents();
  await page.keyboard.press('Escape');
  await save.getByRole('button', { name: 'I have saved them' }).click();
  await page.getByRole('button', { name: 'Turn off' }).waitFor();
  return { secret, codes };
}

/** The authenticator code `steps` time steps of 30 seconds from now (RFC 6238: SHA-1, six digits). */
function totp(secret: string, steps = 0): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

function fromBase32(text: string): Buffer {
  const bits = [...text.replaceAll('=', '')]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
