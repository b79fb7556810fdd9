import { db, pool } from '@postroom/platform';
import { startTestWorker, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { accessibilityViolations, chooseByKeyboard, inBrowser, soon, windowOf } from './browser.ts';

inBrowser('contacts, groups and segments', () => {
  test('a contact is added, found, edited, unsubscribed and deleted', async () => {
    const api = await testApi();
    await api.post('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/contacts');
    await page.getByRole('button', { name: 'Add contact' }).first().click();
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Name').fill('Ada Lovelace');
    await page.getByLabel('City').fill('London');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    await page.getByText('London').waitFor();
    await page.getByText('Source: Dashboard').waitFor();

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('City').fill('Turin');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Turin').waitFor();

    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByRole('button', { name: 'Resubscribe' }).waitFor();
    await page
      .getByText(/^Unsubscribed by /)
      .first()
      .waitFor();
    expect(await page.getByText('They unsubscribed.').count()).toBe(0);

    await page.getByRole('button', { name: 'More for Ada Lovelace' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('ada@example.com');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No contacts yet').waitFor();
  });

  test('a custom field named as a member of every object shows only the value that a contact has', async () => {
    const api = await testApi();
    await api.post('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
    await api.post('/v1/custom-fields', { key: 'constructor', label: 'Constructor', type: 'text' });
    const { id } = await api.contact('ada@example.com');
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/contacts');
    await page.getByRole('columnheader', { name: 'Constructor' }).waitFor();
    const shown = page.getByText('native code');
    expect(await shown.count()).toBe(0);
    await page.getByRole('button', { name: 'Add contact' }).click();
    const input = page.getByRole('textbox', { name: 'Constructor' });
    await input.waitFor();
    expect([await input.inputValue(), await input.getAttribute('aria-invalid')]).toEqual(['', null]);
    await window.open(`/contacts/${id}`);
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    expect(await shown.count()).toBe(0);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'City' }).fill('Turin');
    expect(await input.inputValue()).toBe('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Turin').waitFor();
    expect((await api.get(`/v1/contacts/${id}`)).body.data.customFields).toEqual({ city: 'Turin' });
  });

  test('a contact without a name is shown by its address alone', async () => {
    const api = await testApi();
    const { id } = await api.contact('ada@example.com');
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/contacts');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'ada@example.com', exact: true }) });
    await row.waitFor();
    expect(await row.getByText(/\bada\b/).count()).toBe(1);
    await row.getByRole('link').click();
    await page.waitForURL(`**/contacts/${id}`);
    await page.getByRole('heading', { level: 1, name: 'ada@example.com', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('');
  });

  test('selected contacts are removed from a group by mouse, and suppressed by keyboard', async () => {
    const api = await testApi();
    await startTestWorker();
    const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
    await api.post('/v1/groups', { name: 'Readers', contact_ids: [ada.id, bob.id] });
    await using window = await windowOf(api);
    const { page } = window;
    const dialog = page.getByRole('dialog');
    await window.open('/contacts');
    await page.getByRole('checkbox', { name: 'Select ada@example.com' }).check();
    await page.getByRole('button', { name: 'Remove from group' }).click();
    expect(await dialog.getByRole('button', { name: 'Remove' }).isDisabled()).toBe(true);
    await dialog.getByRole('combobox', { name: 'Group' }).click();
    await page.getByRole('option', { name: 'Readers' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('1 contact was removed from the group.').waitFor();
    expect((await api.get('/v1/groups')).body.data).toMatchObject([{ name: 'Readers', contactCount: 1 }]);

    await page.getByRole('checkbox', { name: 'Select bob@example.com' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Suppress' }).focus();
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Suppress' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('1 contact was suppressed.').waitFor();
    const { data } = (await api.get('/v1/suppressions')).body;
    expect(data).toMatchObject([{ email: 'bob@example.com', reason: 'manual', origin: 'user' }]);
  });

  test('search, filters and pagination are in the URL', async () => {
    const api = await testApi();
    const contacts = Array.from({ length: 60 }, (_, at) => ({
      email: `person${at}@example.com`,
      name: `Person ${at}`,
    }));
    await api.post('/v1/contacts/batch', { contacts: [...contacts, { email: 'grace@example.com', name: 'Grace' }] });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/contacts');
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'Person 0', exact: true }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Person 0', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Previous' }).click();
    await page.getByRole('link', { name: 'Grace' }).waitFor();

    const search = page.getByRole('searchbox', { name: 'Search contacts' });
    await search.pressSequentially('person ');
    await page.waitForURL(/q=person$/);
    await search.pressSequentially('59');
    await page.waitForURL(/q=person(%20|\+)59$/);
    await page.getByRole('link', { name: 'Person 59' }).waitFor();
    await search.fill('grac');
    await page.waitForURL(/q=grac/);
    await page.getByRole('link', { name: 'Person 59' }).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('link', { name: 'Grace' }).waitFor();
    expect(await search.inputValue()).toBe('grac');

    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Not mailed' }).click();
    await page.getByText('No matching contacts').waitFor();
    expect(page.url()).toContain('mailed=no');
  });

  test('contacts are filtered by a group, by its name, in a project of more than a thousand', async () => {
    const api = await testApi();
    const ada = await api.contact('ada@example.com', { name: 'Ada' });
    const { id } = (await api.post('/v1/groups', { name: 'First', contact_ids: [ada.id] })).body.data;
    await pool.query(
      `INSERT INTO groups (id, project_id, name) SELECT postroom_id('grp'), $1, 'Group ' || n FROM generate_series(1, 1000) n`,
      [api.projectId],
    );
    await using window = await windowOf(api);
    await window.open(`/contacts?group=${id}`);
    await window.page.getByText('Group: First').waitFor();
  });

  test('a group is created from addresses and keeps its last member', async () => {
    const api = await testApi();
    for (const email of ['ada@example.com', 'bob@example.com']) await api.contact(email);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/groups');
    await page.getByRole('button', { name: 'New group' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Beta');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Pick at least one contact, or paste an address.').waitFor();
    await page.getByLabel('Or paste addresses').fill('nobody@example.com');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('None of these addresses belongs to a contact.').waitFor();
    await page.getByRole('searchbox', { name: 'Search contacts by name or address' }).fill('ada');
    await page.getByRole('checkbox', { name: 'bob@example.com' }).waitFor({ state: 'detached' });
    await page.getByRole('checkbox', { name: 'ada@example.com' }).focus();
    await page.keyboard.press('Space');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Beta' }).waitFor();
    await page.getByRole('button', { name: 'Add members' }).click();
    await page.getByLabel('Or paste addresses').fill('bob@example.com');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('2 members.').waitFor();
    await page.getByRole('button', { name: 'Remove bob' }).click();
    await page.getByText('1 member. Members').waitFor();
    await page.getByRole('button', { name: 'Remove ada' }).click();
    await page.getByText(/must have at least one member/).waitFor();
    await page.getByText('1 member. Members').waitFor();
  });

  test("a group's public name is set, shown and removed", async () => {
    const api = await testApi();
    await api.contact('ada@example.com');
    const made = await api.post('/v1/groups', { name: 'Beta', emails: ['ada@example.com'] });
    const { id } = made.body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/groups/${id}`);
    await page.getByText('1 member. Members do not see this group.').waitFor();
    const dialog = page.getByRole('dialog');
    const ask = async () => {
      await page.getByRole('button', { name: 'More for Beta' }).click();
      await page.getByRole('menuitem', { name: 'Public name' }).click();
    };
    await ask();
    await dialog.getByLabel('Public name').fill('Product news');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Members see it as “Product news” on the unsubscribe page.').waitFor();
    await window.open('/groups');
    await page.getByRole('cell', { name: 'Product news' }).waitFor();
    await window.open(`/groups/${id}`);
    await ask();
    await dialog.getByLabel('Public name').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Members do not see this group.').waitFor();
    const query = 'query ($id: ID!) { group(id: $id) { publicName } }';
    expect((await api.graphql(query, { id })).body.data.group).toEqual({ publicName: null });
  });

  test('a segment is built, counted live and saved', async () => {
    const api = await testApi();
    await api.post('/v1/custom-fields', { key: 'plan', label: 'Plan', type: 'select', options: ['free', 'pro'] });
    for (const [at, plan] of ['free', 'pro', 'pro'].entries())
      await api.contact(`person${at}@example.com`, { custom_fields: { plan } });
    const template = { name: 'Receipt', subject: 'Hi', body: '<p>Hi</p>' };
    const templateId = (await api.post('/v1/templates', template)).body.data.id as string;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/segments');
    await page.getByRole('link', { name: 'New segment' }).first().click();
    await page.getByLabel('Name').fill('Pro');
    await page.getByText('Complete the conditions').waitFor();
    await page.getByRole('combobox', { name: 'Field' }).click();
    await page.getByRole('option', { name: 'Plan' }).click();
    await page.getByRole('combobox', { name: 'Value' }).click();
    await page.getByRole('option', { name: 'pro' }).click();
    await page.getByRole('heading', { name: '2 contacts now' }).waitFor();
    // Contacts without a name have none here either, and each leads to its page.
    const members = page.getByRole('table', { name: 'Contacts in the segment' });
    await members.getByRole('link', { name: 'person2@example.com', exact: true }).waitFor();
    expect(await members.getByText('person2', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Add condition', exact: true }).click();
    const second = page.getByRole('group', { name: 'Condition 2' });
    await second.getByRole('combobox', { name: 'Field' }).click();
    await page.getByRole('option', { name: 'Opened email' }).click();
    await page.getByRole('combobox', { name: 'Campaign or template' }).click();
    await page.getByRole('option', { name: 'Receipt' }).click();
    await page.getByRole('heading', { name: '0 contacts now' }).waitFor();
    await second.getByRole('combobox', { name: 'Operator' }).click();
    await page.getByRole('option', { name: 'never' }).click();
    await page.getByRole('heading', { name: '2 contacts now' }).waitFor();
    await page.getByRole('button', { name: 'Add condition group' }).click();
    await page.getByRole('group', { name: 'Condition 3.1' }).waitFor();
    const inner = page.getByRole('group', { name: 'Condition group 3' });
    await inner.getByRole('button', { name: 'Remove condition group' }).click();
    await inner.waitFor({ state: 'detached' });
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Pro', level: 1 }).waitFor();
    const { body } = await api.get('/v1/segments');
    expect(body.data[0]).toMatchObject({
      name: 'Pro',
      filter: {
        and: [
          { field: 'customFields.plan', op: 'is', value: 'pro' },
          { field: 'opened', op: 'never', templateId },
        ],
      },
    });
  });

  test('values of conditions are kept as they are typed, and what is listed is of the saved conditions', async () => {
    const api = await testApi();
    await api.post('/v1/custom-fields', { key: 'vip', label: 'VIP', type: 'boolean' });
    await api.post('/v1/custom-fields', { key: 'age', label: 'Age', type: 'number' });
    await api.contact('ada@example.com', { custom_fields: { vip: true, age: 36 } });
    await api.contact('bob@example.com', { custom_fields: { vip: false, age: 40 } });
    await api.contact('cleo@example.com', { custom_fields: { vip: false, age: 41 } });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/segments/new');
    const choose = async (name: string, option: string) => {
      await page.getByRole('combobox', { name, exact: true }).click();
      await page.getByRole('option', { name: option, exact: true }).click();
    };
    const value = page.getByRole('combobox', { name: 'Value' });
    await choose('Field', 'VIP');
    await choose('Value', 'Yes');
    await choose('Value', 'Yes');
    expect(await value.inputValue()).toBe('Yes');
    await page.getByRole('heading', { name: '1 contact now' }).waitFor();

    await choose('Field', 'Age');
    await page.getByRole('textbox', { name: 'Value' }).fill('36');
    await choose('Operator', 'is one of');
    await value.fill('many');
    await value.press('Enter');
    await value.fill('40');
    await value.press('Enter');
    await page.getByRole('heading', { name: '2 contacts now' }).waitFor();
    await page.getByLabel('Name').fill('Of an age');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'View all' }).waitFor();
    expect((await api.get('/v1/segments')).body.data[0].filter).toEqual({
      and: [{ field: 'customFields.age', op: 'in', value: [36, 40] }],
    });
    await value.fill('41');
    await value.press('Enter');
    await page.getByRole('heading', { name: '3 contacts now' }).waitFor();
    expect(await page.getByRole('link', { name: 'View all' }).count()).toBe(0);

    await choose('Field', 'Caused an event');
    await page.getByRole('combobox', { name: 'Event' }).fill('paid');
    await page.getByRole('button', { name: 'Add condition on the event' }).click();
    await page.getByRole('combobox', { name: 'Property' }).fill('total');
    await page.getByRole('combobox', { name: 'Operator' }).nth(1).click();
    await page.getByRole('option', { name: 'is more than' }).click();
    await page.getByRole('textbox', { name: 'Value' }).pressSequentially('10.050');
    expect(await page.getByRole('textbox', { name: 'Value' }).inputValue()).toBe('10.050');
    await page.getByRole('heading', { name: '0 contacts now' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(async () => (await api.get('/v1/segments')).body.data[0].filter.and[0].where).toEqual([
      { property: 'total', op: 'moreThan', value: 10.05 },
    ]);
  });

  test('addresses that are not contacts stay in the dialog that adds members', async () => {
    const api = await testApi();
    const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
    const group = (await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/groups/${group.id}`);
    await page.getByRole('button', { name: 'Add members' }).click();
    const pasted = page.getByLabel('Or paste addresses');
    await pasted.fill(`Ada@example.com, ${bob.email}, cleo@example.com`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await page.getByText('1 contact added to the group; 1 was a member already.').waitFor();
    await page.getByText('This is not a contact').waitFor();
    expect(await pasted.inputValue()).toBe('cleo@example.com');
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('a segment that names a deleted group says so in the list and on its page, until its conditions are changed', async () => {
    const api = await testApi();
    const ada = await api.contact('ada@example.com');
    const group = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [ada.id] })).body.data.id as string;
    const filter = {
      and: [{ not: { field: 'group', op: 'is', value: group } }, { field: 'email', op: 'contains', value: 'example' }],
    };
    await api.post('/v1/segments', { name: 'No customers', filter });
    await api.delete(`/v1/groups/${group}`);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/segments');
    const warning = page.getByText('A condition names something that was deleted');
    await warning.waitFor();
    await page.getByRole('row', { name: 'No customers' }).getByRole('cell', { name: '0', exact: true }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'No customers' }).click();
    const message = page.getByText(`It has a condition on the group ${group}, which was deleted.`);
    await message.waitFor();
    expect(await page.getByText('Something went wrong').count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove condition group' }).click();
    await page.getByRole('heading', { name: '1 contact now' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await message.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Segments' }).first().click();
    await page.getByRole('row', { name: 'No customers' }).getByRole('cell', { name: '1', exact: true }).waitFor();
    expect(await warning.count()).toBe(0);
  });

  test('a segment of contacts who did something often is built by keyboard, and saved again as it was', async () => {
    const api = await testApi();
    for (const name of ['ada', 'bob']) await api.contact(`${name}@example.com`);
    const order = (name: string, total: number) => ({
      name: 'order placed',
      email: `${name}@example.com`,
      properties: { total },
    });
    await api.post('/v1/events', { events: [order('ada', 60), order('ada', 70), order('bob', 80), order('bob', 10)] });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/segments/new');
    await page.getByLabel('Name', { exact: true }).fill('Good customers');
    await page.getByRole('combobox', { name: 'Field', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('Caused');
    await soon(() => page.getByRole('option').count()).toBe(1);
    await chooseByKeyboard(page, 'Caused');
    await page.getByRole('combobox', { name: 'Event', exact: true }).focus();
    await page.keyboard.type('order placed');
    await page.keyboard.press('Tab');
    await page.getByRole('heading', { name: '2 contacts now' }).waitFor();
    await page.getByLabel('At least', { exact: true }).focus();
    await page.keyboard.press('ArrowUp');
    await page.getByRole('button', { name: 'Add condition on the event' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Property', { exact: true }).first().fill('total');
    await page.getByLabel('Value', { exact: true }).fill('60');
    const onEvent = page.getByRole('group', { name: 'Condition 1 on the event' });
    await onEvent.getByRole('combobox', { name: 'Operator' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: 'is at least' }).click();
    await page.getByRole('heading', { name: '1 contact now' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    const saved = async () => (await api.get('/v1/segments')).body.data[0];
    const where = [{ property: 'total', op: 'atLeast', value: 60 }];
    const filter = { and: [{ field: 'event', op: 'ever', event: 'order placed', times: 2, where }] };
    await soon(async () => (await saved())?.filter).toEqual(filter);
    await page.getByRole('heading', { name: 'Good customers', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: '1 contact now' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Best customers');
    await page.getByRole('button', { name: 'Save' }).click();
    await soon(async () => (await saved()).name).toBe('Best customers');
    expect((await saved()).filter).toEqual(filter);
  });

  test('a segment of contacts in a journey is built by keyboard', async () => {
    const api = await testApi();
    const journeyId = (await api.post('/v1/journeys', { name: 'Welcome' })).body.data.id as string;
    const ada = await api.contact('ada@example.com');
    await api.contact('bob@example.com');
    await pool.query(
      `INSERT INTO enrollments (id, project_id, journey_id, contact_id, version, step_id) VALUES ($1, $2, $3, $4, 1, 'a')`,
      [`enr_${ada.id.slice(4)}`, api.projectId, journeyId, ada.id],
    );
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/segments/new');
    await page.getByLabel('Name', { exact: true }).fill('Being welcomed');
    await page.getByRole('combobox', { name: 'Field', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('Is in a journey');
    await chooseByKeyboard(page, 'Is in a journey');
    await page.getByRole('combobox', { name: 'Value', exact: true }).focus();
    await page.keyboard.type('Welc');
    await chooseByKeyboard(page, 'Welcome');
    await page.getByRole('heading', { name: '1 contact now' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    const filter = { and: [{ field: 'journey', op: 'is', value: journeyId }] };
    await soon(async () => (await api.get('/v1/segments')).body.data[0]?.filter).toEqual(filter);
  });

  test("concurrent edits of a segment or contact lose neither side's changes", async () => {
    const api = await testApi();
    for (const key of ['city', 'plan']) await api.post('/v1/custom-fields', { key, label: key, type: 'text' });
    const fields = { city: 'London', plan: 'free' };
    const contact = await api.contact('ada@example.com', { name: 'Ada', custom_fields: fields });
    const filter = { and: [{ field: 'email', op: 'endsWith', value: '@example.com' }] };
    const segment = (await api.post('/v1/segments', { name: 'All', filter })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    const alert = page.getByRole('alert').filter({ hasText: 'saved this' });

    await window.open(`/contacts/${contact.id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('city').fill('Turin');
    await api.patch(`/v1/contacts/${contact.id}`, { custom_fields: { ...fields, plan: 'pro' } });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Turin').waitFor();
    const path = `/v1/contacts/${contact.id}`;
    expect((await api.get(path)).body.data.customFields).toEqual({ city: 'Turin', plan: 'pro' });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('city').fill('Bern');
    await api.patch(path, { custom_fields: { city: 'Paris', plan: 'pro' } });
    await page.getByRole('button', { name: 'Save' }).click();
    await alert.getByText('Conflicting changes: city.').waitFor();
    expect((await api.get(path)).body.data.customFields.city).toBe('Paris');
    await alert.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByText('Bern').waitFor();
    expect((await api.get(path)).body.data.customFields).toEqual({ city: 'Bern', plan: 'pro' });

    await window.open(`/segments/${segment.id}`);
    await page.getByLabel('Name').fill('Mine');
    await api.patch(`/v1/segments/${segment.id}`, { name: 'Theirs' });
    await page.getByRole('button', { name: 'Save' }).click();
    await alert.getByText('Conflicting changes: name.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await alert.getByRole('button', { name: 'Show theirs' }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('Theirs');
    await alert.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
    expect((await api.get(`/v1/segments/${segment.id}`)).body.data).toMatchObject({ name: 'Mine', filter });
  });

  test('an address is suppressed and released; a field gets a key derived from its name', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/suppressions');
    await page.getByRole('button', { name: 'Add address' }).click();
    await page.getByLabel('Address', { exact: true }).fill('bob@example.com');
    await page.getByRole('button', { name: 'Suppress' }).click();
    await page.getByRole('button', { name: 'Remove bob@example.com' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No suppressions yet').waitFor();

    await window.open('/fields');
    await page.getByRole('button', { name: 'New field' }).first().click();
    await page.getByLabel('Name').fill('Größe der Test-Firma');
    await page.getByRole('combobox', { name: 'Type' }).click();
    await page.getByRole('option', { name: 'Single choice' }).click();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Enter at least one choice').waitFor();
    await page.getByRole('combobox', { name: 'Choices' }).fill('Klein');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('grosse_der_test_firma').waitFor();
  });

  test('a viewer is offered no changes', async () => {
    const api = await testApi();
    const ada = await api.contact('ada@example.com');
    await using window = await windowOf(api, 'viewer');
    const { page } = window;
    await window.open(`/contacts/${ada.id}`);
    await page.getByText('Source: API').waitFor();
    expect(await page.getByRole('button', { name: /Unsubscribe|Edit|More for/ }).count()).toBe(0);
    await window.open('/campaigns');
    await page.getByText('No campaigns yet').waitFor();
    expect(await page.getByRole('button', { name: 'New campaign' }).count()).toBe(0);
  });
});

inBrowser('importing suppressions', () => {
  test('a file is checked in a dry run that writes nothing, and then imported, by keyboard', async () => {
    const api = await testApi();
    await startTestWorker();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/suppressions');
    await page.getByRole('button', { name: 'Import' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Import suppressions' });
    const chosen = page.waitForEvent('filechooser');
    await dialog.getByRole('button', { name: 'CSV file' }).click();
    const buffer = Buffer.from('email,reason\nada@example.net,bounced\nnot an address,\nbob@example.net,\n');
    await (await chosen).setFiles({ name: 'suppressions.csv', mimeType: 'text/csv', buffer });
    await dialog.getByRole('button', { name: 'Start dry run' }).click();
    await page.getByText('Completed', { exact: true }).waitFor();
    await page.getByText('Nothing was written').waitFor();
    await page.getByRole('region', { name: 'Preview of 3 rows' }).getByText('2', { exact: true }).waitFor();
    await page.getByText('1 row: the address must be an email address such as ada@example.com').waitFor();
    await page.getByText('First on line 3.').waitFor();
    expect(await db.suppression.count({ where: { projectId: api.projectId } })).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Import now' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Results').waitFor();
    await page.getByText('Completed', { exact: true }).waitFor();
    const reasons = await db.suppression.findMany({ where: { projectId: api.projectId }, orderBy: { email: 'asc' } });
    expect(reasons.map(({ email, reason }) => [email, reason])).toEqual([
      ['ada@example.net', 'bounced'],
      ['bob@example.net', 'manual'],
    ]);
  });
});
