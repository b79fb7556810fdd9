import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pool, record } from '@postroom/platform';
import { type Api, signedIn, testApi } from '@postroom/testkit';
import type { Locator, Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { holdRequests, inBrowser, openWindow, soon, windowOf } from './browser.ts';

const QUESTION = 'You have unsaved changes. Leave anyway?';

/** Answers the questions of a page, and records them. */
function answerQuestions(page: Page): { asked: string[]; accepts: boolean } {
  const answers = { asked: [] as string[], accepts: false };
  page.on('dialog', (dialog) => {
    answers.asked.push(dialog.message());
    void (answers.accepts ? dialog.accept() : dialog.dismiss());
  });
  return answers;
}

/** Holds a mutation of a page. @returns how often it was sent, and a function that releases it. */
async function holdMutation(page: Page, name: string): Promise<{ sent: () => number; release: () => void }> {
  let count = 0;
  const release = await holdRequests(page, '**/graphql', (request) => {
    const isHeld = request.postData()?.includes(`mutation ${name}(`) === true;
    if (isHeld) count++;
    return isHeld;
  });
  return { sent: () => count, release };
}

inBrowser('on a slow network', () => {
  test('what is typed into a form while it is being saved stays, and is not saved yet', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/forms', { name: 'Footer', double_opt_in: false })).body.data;
    const ada = await api.contact('ada@example.com');
    await using window = await windowOf(api);
    const { page } = window;

    await window.open('/settings');
    const name = page.getByLabel('Name', { exact: true });
    const saveName = page.getByRole('button', { name: 'Save' }).first();
    await name.fill('First');
    const project = await holdMutation(page, 'RenameProject');
    await saveName.click();
    await soon(project.sent).toBe(1);
    await name.fill('Second');
    project.release();
    await page.getByText('Project renamed.').waitFor();
    await saveName.click();
    await soon(project.sent).toBe(2);
    await page.unrouteAll({ behavior: 'wait' });

    await window.open(`/forms/${id}/edit`);
    await page.getByLabel('Title').fill('First');
    const form = await holdMutation(page, 'UpdateForm');
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(form.sent).toBe(1);
    await page.getByLabel('Title').fill('Second');
    form.release();
    await page.getByText('Form saved.').waitFor();
    expect(await page.getByLabel('Title').inputValue()).toBe('Second');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Footer', level: 1 }).waitFor();
    expect((await api.get(`/v1/forms/${id}`)).body.data.title).toBe('Second');
    await page.unrouteAll({ behavior: 'wait' });

    await window.open(`/contacts/${ada.id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const contactName = page.getByLabel('Name', { exact: true });
    await contactName.fill('Ada');
    const contact = await holdMutation(page, 'UpdateContact');
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(contact.sent).toBe(1);
    await contactName.fill('Ada Lovelace');
    contact.release();
    await page.getByText('Saved.').waitFor();
    expect(await contactName.inputValue()).toBe('Ada Lovelace');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Ada Lovelace', level: 1 }).waitFor();
  });

  test('leaving a form while it is being saved asks, and does not bring the user back', async () => {
    const api = await testApi();
    const endpoint = { url: 'https://example.com/hook', events: ['*'] };
    const { id } = (await api.post('/v1/webhooks', endpoint)).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    const answers = answerQuestions(page);
    await window.open(`/webhooks/${id}/edit`);
    await page.getByLabel('Description').fill('Orders');
    const update = await holdMutation(page, 'UpdateEndpoint');
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(update.sent).toBe(1);
    const leave = () => page.getByRole('navigation').getByRole('link', { name: 'Templates' }).click();
    await leave();
    await soon(() => answers.asked).toEqual([QUESTION]);
    answers.accepts = true;
    await leave();
    await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
    update.release();
    await page.getByText('Endpoint updated.').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/p/${api.projectId}/templates`);
  });

  test('a campaign whose save gets no response can be left after a question', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/campaigns', { name: 'Spring' })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    const answers = answerQuestions(page);
    answers.accepts = true;
    await window.open(`/campaigns/${id}`);
    const update = await holdMutation(page, 'UpdateCampaign');
    await page.getByLabel('Campaign name').fill('Summer');
    await soon(update.sent).toBe(1);
    await page.getByRole('navigation').getByRole('link', { name: 'Templates' }).click();
    await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
    expect(answers.asked).toEqual(['Your changes could not be saved. Leave anyway?']);
    update.release();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('a save whose response was lost is not repeated with what is typed meanwhile', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/templates', { name: 'Welcome', subject: 'Hello', body: '<p>Hi</p>' })).body
      .data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/templates/${id}`);
    const subject = page.getByLabel('Subject');
    let sent = 0;
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('mutation UpdateTemplate(') !== true) return route.continue();
      sent++;
      await route.fetch({ url: `${api.url}/graphql` });
      await route.abort();
    });
    await subject.fill('Welcome');
    await page.getByRole('button', { name: 'Save draft' }).click();
    const problem = page.getByText('It may have made the change');
    await problem.waitFor();
    await subject.fill('Welcome to R');
    await page.evaluate('dispatchEvent(new Event("online"))');
    await problem.waitFor({ state: 'detached' });
    await page.getByText('Not saved yet.').waitFor();
    await subject.fill('Welcome');
    await page.getByText('Version 2, saved').waitFor();
    expect(sent).toBe(1);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('pressing a button twice that saves first does the rest once', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/templates', { name: 'Welcome', subject: 'Hello', body: '<p>Hi</p>' })).body
      .data;
    const campaign = (await api.post('/v1/campaigns', { name: 'Spring' })).body.data.id;
    await using window = await windowOf(api);
    const { page } = window;
    const publish = await holdMutation(page, 'PublishTemplate');
    await window.open(`/templates/${id}`);
    await page.getByLabel('Subject').fill('Welcome');
    await page.getByRole('button', { name: 'Publish', exact: true }).dblclick();
    await soon(publish.sent).toBe(1);
    publish.release();
    await page.getByText('Template published.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });

    const save = await holdMutation(page, 'UpdateCampaign');
    await window.open(`/campaigns/${campaign}`);
    await page.getByLabel('Campaign name').fill('Summer');
    await soon(save.sent).toBe(1);
    let made = 0;
    page.on('request', (request) => {
      if (request.postData()?.includes('mutation CreateAbTest(') === true) made++;
    });
    await page.getByRole('button', { name: 'Create A/B test' }).dblclick();
    save.release();
    await page.getByRole('heading', { name: 'Variants' }).waitFor();
    expect([publish.sent(), made]).toEqual([1, 1]);
  });

  test('nothing is said to be deleted, missing or without matches before the server has answered', async () => {
    const api = await testApi();
    await api.post('/v1/custom-fields', { label: 'City', key: 'city', type: 'text' });
    const ada = await api.contact('ada@example.com');
    const group = (await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] })).body.data.id;
    const draft = (await api.post('/v1/campaigns', { name: 'Spring', group_ids: [group] })).body.data.id;
    const filter = { field: 'customFields.city', op: 'is', value: 'Rome' };
    const segment = (await api.post('/v1/segments', { name: 'Romans', filter })).body.data.id;
    const sent = (await api.post('/v1/campaigns', { name: 'Autumn', group_ids: [group] })).body.data.id;
    await pool.query(
      `UPDATE campaigns SET status = 'completed', started_at = now(), frozen_at = now(), completed_at = now() WHERE id = $1`,
      [sent],
    );
    await using window = await windowOf(api);
    const { page } = window;
    /** Holds a query while `early` looks at the page. */
    const whileHeld = async (name: string, early: () => Promise<void>) => {
      const release = await holdRequests(
        page,
        '**/graphql',
        (request) => request.postData()?.includes(`query ${name}`) === true,
      );
      await early();
      release();
      await page.unrouteAll({ behavior: 'wait' });
    };

    await whileHeld('Audiences', async () => {
      await window.open(`/campaigns/${sent}`);
      await page.getByText('Loading…').waitFor();
      expect(await page.getByText('Deleted groups and segments').count()).toBe(0);
    });
    await page.getByText('Beta', { exact: true }).waitFor();

    await whileHeld('RecordNames', async () => {
      await window.open(`/campaigns/${draft}`);
      await page.getByPlaceholder('Loading…').waitFor();
      expect(await page.getByText(group).count()).toBe(0);
    });
    await page.getByText('Beta', { exact: true }).first().waitFor();

    await whileHeld('CustomFields', async () => {
      await window.open(`/segments/${segment}`);
      await page.getByLabel('Name').waitFor();
      await page.getByRole('status', { name: 'Loading' }).first().waitFor();
      expect(await page.getByText('Deleted field').count()).toBe(0);
    });
    await page.getByRole('combobox', { name: 'Field' }).waitFor();

    await window.open('/contacts');
    await whileHeld('SearchRecords', async () => {
      await page.keyboard.press('Control+k');
      const asked = page.waitForRequest((request) => request.postData()?.includes('query SearchRecords') === true);
      await page.getByRole('textbox', { name: 'Search, or run a command' }).fill('ada@example.com');
      await asked;
      await page.getByText('Searching…').waitFor();
      expect(await page.getByText('No matches').count()).toBe(0);
    });
    await page.getByText('ada@example.com').last().waitFor();
  });

  test('a button without a form says why its action failed', async () => {
    const api = await testApi();
    const id = (await api.post('/v1/webhooks', { url: 'https://example.com/hook', events: ['*'] })).body.data.id;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/webhooks/${id}`);
    const abort = (name: string) =>
      page.route('**/graphql', (route) =>
        route.request().postData()?.includes(`mutation ${name}`) === true ? route.abort() : route.continue(),
      );
    await abort('SendTest(');
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText("Can't reach the server. It may have made the change").waitFor();
    await page.unrouteAll({ behavior: 'wait' });

    await page.route('**/app/auth/sign-out', (route) => route.abort());
    await page.getByRole('button', { name: /Open account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('You may still be signed in.').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/p/${api.projectId}/webhooks/${id}`);
  });

  test('a conversion to HTML that is canceled changes nothing, and says when the server is unreachable', async () => {
    const api = await testApi();
    const mjml =
      '<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>';
    const { id } = (await api.post('/v1/campaigns', { name: 'Spring', html: mjml, format: 'mjml' })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    const isCheck = (text: string | null) => text?.includes('query ContentCheck(') === true;
    const checksOnOpen = page.waitForResponse((response) => isCheck(response.request().postData()));
    await window.open(`/campaigns/${id}`);
    // A conversion meanwhile would share this request, which is not held.
    await checksOnOpen;
    const dialog = page.getByRole('dialog', { name: 'Convert to HTML?' });
    const choose = () => page.getByText('Own HTML', { exact: true }).click();
    const convert = dialog.getByRole('button', { name: 'Convert to HTML' });
    await choose();
    let checks = 0;
    const release = await holdRequests(page, '**/graphql', (request) => {
      if (!isCheck(request.postData())) return false;
      checks++;
      return true;
    });
    await convert.click();
    await soon(() => checks).toBe(1);
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'detached' });
    const checked = page.waitForResponse((response) => isCheck(response.request().postData()));
    release();
    await checked;
    await page.unrouteAll({ behavior: 'wait' });
    await page.route('**/graphql', (route) => (isCheck(route.request().postData()) ? route.abort() : route.continue()));
    await choose();
    await convert.click();
    await dialog.getByText("Can't reach the server. Check your connection.").waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await convert.click();
    await dialog.waitFor({ state: 'detached' });
    await soon(async () => (await api.get(`/v1/campaigns/${id}`)).body.data.format).toBe('html');
  });
});

inBrowser('dialogs', () => {
  test('Escape asks before it drops picked contacts, fields of a contact, addresses of a test, or choices of a backtest', async () => {
    const api = await testApi();
    await api.contact('ada@example.com');
    await api.post('/v1/custom-fields', { label: 'City', key: 'city', type: 'text' });
    const { id } = (await api.post('/v1/templates', { name: 'Welcome', subject: 'Hello', body: '<p>Hi</p>' })).body
      .data;
    const journey = (await api.post('/v1/journeys', { name: 'Thanks' })).body.data.id;
    await using window = await windowOf(api);
    const { page } = window;
    const answers = answerQuestions(page);
    const dialog = page.getByRole('dialog');
    const changes: [path: string, button: string, change: () => Promise<void>][] = [
      ['/groups', 'New group', () => dialog.getByRole('checkbox', { name: 'ada@example.com' }).check()],
      ['/contacts', 'Add contact', () => dialog.getByLabel('City').fill('Rome')],
      [`/templates/${id}`, 'Send test email', () => dialog.getByLabel('Addresses').fill('bob@example.com')],
      [`/journeys/${journey}`, 'Backtest', () => dialog.getByLabel('Assumed opens').fill('40')],
    ];
    for (const [path, button, change] of changes) {
      answers.accepts = true;
      await window.open(path);
      answers.asked.length = 0;
      await page.getByRole('button', { name: button }).first().click();
      await change();
      answers.accepts = false;
      await page.keyboard.press('Escape');
      await soon(() => answers.asked, path).toEqual([QUESTION]);
      expect(await dialog.isVisible()).toBe(true);
    }
    answers.accepts = true;
  });

  test('the menu of placeholders fits a low window, and is used by keyboard', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/templates', { name: 'Welcome', subject: 'Hello', body: '<p>Hi</p>' })).body
      .data;
    await using window = await windowOf(api, 'owner', { width: 320, height: 400 });
    const { page } = window;
    await window.open(`/templates/${id}`);
    const button = page.getByRole('button', { name: 'Insert a placeholder' });
    await button.focus();
    await page.keyboard.press('Enter');
    const menu = page.getByRole('menu');
    await menu.waitFor();
    const isFocused = (element: Locator) => element.evaluate((node) => node === node.ownerDocument.activeElement);
    await soon(() => isFocused(menu.getByRole('menuitem').first())).toBe(true);
    // The items wrap around, so the last one is before the first.
    await page.keyboard.press('ArrowUp');
    const last = menu.getByRole('menuitem', { name: 'Amount' });
    await soon(() => isFocused(last)).toBe(true);
    const { y, height } = (await menu.boundingBox()) ?? { y: -1, height: 0 };
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThanOrEqual(400);
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'HTML' }).getByText('currency').waitFor();
    expect(await menu.count()).toBe(0);
  });

  test('the contacts to pick fit a window of 320 pixels', async () => {
    const api = await testApi();
    await api.contact(`${'long'.repeat(14)}@example.com`);
    await using window = await windowOf(api, 'owner', { width: 320 });
    const { page } = window;
    await window.open('/groups');
    await page.getByRole('button', { name: 'New group' }).first().click();
    await page.getByRole('dialog').getByRole('checkbox').waitFor();
    const list = page.getByRole('dialog').locator('.mantine-ScrollArea-viewport', { has: page.getByRole('checkbox') });
    const overflow = (element: Element) => element.scrollWidth - element.clientWidth;
    expect(await list.evaluate(overflow)).toBeLessThanOrEqual(0);
  });
});

inBrowser('live updates', () => {
  test('a query whose response never comes is repeated when the connection is back', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/groups');
    let isHanging = true;
    await page.route('**/graphql', async (route) => {
      if (!isHanging || route.request().postData()?.includes('query Segments(') !== true) await route.continue();
    });
    await page.getByRole('navigation').getByRole('link', { name: 'Segments' }).click();
    await page.getByText('The server is not responding.').waitFor();
    isHanging = false;
    await page.evaluate('dispatchEvent(new Event("online"))');
    await page.getByText('No segments yet').waitFor();
  });

  test('a connection that died without being closed is noticed, and the page catches up', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/webhooks', { url: 'https://example.com/x', events: ['*'] })).body.data;
    const network = await startNetwork(api);
    onTestFinished(network.close);
    await using window = await openWindow({ ...api, url: network.url }, await signedIn(api, 'owner'), {
      isFresh: true,
    });
    const { page } = window;
    await page.clock.install();
    await window.open(`/webhooks/${id}`);
    await page.clock.runFor(2_000);
    await page.getByText('Live', { exact: true }).waitFor();
    network.forgetStreams();
    await record(pool, api.projectId, [{ type: 'contact.created', data: {} }]);
    const deliveries = page.getByRole('table', { name: 'Deliveries' });
    await soon(async () => {
      await page.clock.runFor(5_000);
      return deliveries.getByText('contact.created').count();
    }).toBeGreaterThan(0);
  });
});

/** A network to the gateway that can forget the connections of streams: they stay open, and carry nothing anymore. */
async function startNetwork(api: Api): Promise<{ url: string; forgetStreams: () => void; close: () => void }> {
  const { port, hostname } = new URL(api.url);
  const sockets = new Set<Socket>();
  const streams = new Set<() => void>();
  const proxy = createServer((socket) => {
    const upstream = connect(Number(port), hostname);
    for (const each of [socket, upstream]) each.on('error', () => {});
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      upstream.destroy();
    });
    upstream.on('close', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
    socket.on('data', (chunk: Buffer) => {
      if (!chunk.includes('POST /graphql/stream')) return;
      streams.add(() => {
        socket.unpipe(upstream).resume();
        upstream.unpipe(socket).resume();
      });
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    forgetStreams: () => {
      for (const forget of streams) forget();
      streams.clear();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
