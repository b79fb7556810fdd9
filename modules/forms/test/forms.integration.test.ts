import { config, pool, sql } from '@postroom/platform';
import { eventually, interleave, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { cancelReminders } from '../src/confirmation-mail.ts';
import { deleteOld } from '../src/retention.ts';
import { HONEYPOT_FIELD, PAGE_TOKEN } from '../src/page.ts';
import { pageToken } from '../src/token.ts';
import {
  age,
  confirmLink,
  contactOf,
  formsProject,
  linkOf,
  mails,
  newForm,
  newVisitor,
  submitPage,
  trustTests,
} from './support.ts';

beforeAll(trustTests);

const EMAIL = 'ada@example.net';

/** A group with another member. */
async function newGroup(api: Awaited<ReturnType<typeof formsProject>>, name = 'Readers') {
  const { id } = await api.contact(`first.${name.toLowerCase()}@example.net`);
  return (await api.post('/v1/groups', { name, contact_ids: [id] })).body.data.id as string;
}

test('a subscriber fills in the page, gets one email, confirms with its button, and is a contact of the groups from then on', async () => {
  const api = await formsProject();
  await api.post('/v1/custom-fields', { key: 'plan', label: 'Plan', type: 'select', options: ['free', 'pro'] });
  const group = await newGroup(api);
  const form = await newForm(api, {
    title: 'Get our <news>',
    group_ids: [group],
    fields: [{ key: 'name', required: true }, { key: 'custom_fields.plan' }],
    consent_text: 'I agree.',
  });
  const page = await fetch(`${api.url}/f/${form}`);
  const html = await page.text();
  expect(page.status).toBe(200);
  expect(html).toContain('Get our &lt;news&gt;');
  expect(html).toContain('<option value="pro">');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");

  const submitted = await submitPage(api, form, {
    email: ' Ada@Example.net ',
    name: 'Ada',
    'custom_fields.plan': 'pro',
    consent: 'true',
  });
  expect(submitted.status).toBe(200);
  expect(await submitted.text()).toContain('Please check your inbox');
  expect(await contactOf(api, EMAIL)).toBeUndefined();
  expect(await mails(api)).toMatchObject([
    { email: 'Ada@Example.net', subject: 'Confirm your subscription to Acme', suppressed: false },
  ]);

  const link = await linkOf(api);
  expect(await (await fetch(link)).text()).toContain('Confirm subscription');
  expect(await contactOf(api, EMAIL)).toBeUndefined();
  expect(await (await confirmLink(link)).text()).toContain('You are subscribed');

  const contact = await contactOf(api, EMAIL);
  expect(contact).toMatchObject({
    name: 'Ada',
    source: 'form',
    customFields: { plan: 'pro' },
    suppressionStatus: 'none',
  });
  const { contacts } = (await api.get(`/v1/groups/${group}`)).body.data;
  expect(contacts.map(({ id }: { id: string }) => id)).toContain(contact.id);
  const { data } = (await api.get(`/v1/forms/${form}/submissions`)).body;
  expect(data).toMatchObject([
    {
      status: 'confirmed',
      consentText: 'I agree.',
      contactId: contact.id,
      submittedFrom: expect.stringMatching(/^198\.51\.\d+\.0\/24$/),
    },
  ]);
  expect(data[0].confirmedFrom).toBe('127.0.0.0/24');
  expect(await api.events('form.confirmed')).toMatchObject([
    {
      data: { form_id: form, form_name: 'Newsletter', submission_id: data[0].id, contact_id: contact.id, name: 'Ada' },
    },
  ]);
  const { body } = await api.graphql('query ($id: ID!) { contact(id: $id) { activity { type detail } } }', {
    id: contact.id,
  });
  expect(body.data.contact.activity).toEqual(
    expect.arrayContaining([
      {
        type: 'form.submitted',
        detail: expect.stringMatching(/^Newsletter · from 198\.51\.\d+\.0\/24 · “I agree\.”$/),
      },
      { type: 'form.confirmed', detail: 'Newsletter · from 127.0.0.0/24' },
    ]),
  );
});

test('an address beyond ASCII is taken', async () => {
  const api = await formsProject();
  const form = await newForm(api);
  const submitted = await submitPage(api, form, { email: '用户@example.net' });
  expect(await submitted.text()).toContain('<b>用户@example.net</b>');
  expect(await mails(api)).toMatchObject([{ email: '用户@example.net' }]);
});

test('an internationalized address reads as it was typed, which browsers encode', async () => {
  const api = await formsProject();
  const form = await newForm(api);
  const submitted = await submitPage(api, form, { email: ' Ada@xn--mnchen-3ya.example ' });
  expect(await submitted.text()).toContain('<b>Ada@münchen.example</b>');
  expect(await mails(api)).toMatchObject([{ email: 'Ada@münchen.example' }]);
});

test('a link that is used by several at once, and again later, has its effect once', async () => {
  const api = await formsProject();
  const form = await newForm(api, { group_ids: [await newGroup(api)] });
  await submitPage(api, form, { email: EMAIL });
  const link = await linkOf(api);
  const replies = await Promise.all([1, 2, 3].map(() => confirmLink(link)));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await confirmLink(link)).status).toBe(200);
  expect(await (await fetch(link)).text()).toContain('You are subscribed');
  expect(await api.events('form.confirmed')).toHaveLength(1);
  expect((await api.events('contact.created')).filter(({ data }) => data['email'] === EMAIL)).toHaveLength(1);
  expect((await api.events('contact.updated')).filter(({ data }) => data['email'] === EMAIL)).toEqual([]);
});

test('a link that was used says whether the address is still subscribed', async () => {
  const api = await formsProject();
  const form = await newForm(api);
  await submitPage(api, form, { email: EMAIL });
  const link = await linkOf(api);
  await confirmLink(link);
  const { id } = await contactOf(api, EMAIL);
  const seen = async () => {
    const pages = [await fetch(link), await confirmLink(link)];
    return Promise.all(pages.map(async (page) => [page.status, /<h1>(.*?)<\/h1>/.exec(await page.text())?.[1]]));
  };
  const subscribed = [200, 'You are subscribed'];
  const used = [410, 'This link has been used'];
  expect(await seen()).toEqual([subscribed, subscribed]);
  await api.patch(`/v1/contacts/${id}`, { subscribed: false });
  expect(await seen()).toEqual([used, used]);
  expect((await contactOf(api, EMAIL)).suppressionStatus).toBe('unsubscribed');
  await api.patch(`/v1/contacts/${id}`, { subscribed: true });
  expect(await seen()).toEqual([subscribed, subscribed]);
  await api.delete(`/v1/contacts/${id}`);
  expect(await seen()).toEqual([used, used]);
});

test('fields that are left blank change nothing of a contact', async () => {
  const api = await formsProject();
  await api.post('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
  const form = await newForm(api, { fields: [{ key: 'name' }, { key: 'custom_fields.city' }] });
  await api.contact(EMAIL, { name: 'Ada', custom_fields: { city: 'London' } });
  await submitPage(api, form, { email: EMAIL, name: ' ', 'custom_fields.city': ' ' });
  await confirmLink(await linkOf(api));
  expect(await contactOf(api, EMAIL)).toMatchObject({ name: 'Ada', customFields: { city: 'London' } });

  await submitPage(api, form, { email: 'new@example.net', name: '', 'custom_fields.city': '' });
  await confirmLink(await linkOf(api));
  expect(await contactOf(api, 'new@example.net')).toMatchObject({ hasName: false, customFields: {} });
});

test('each change of a contact is one event, with the contact after the confirmation', async () => {
  const api = await formsProject();
  const form = await newForm(api, { group_ids: [await newGroup(api)], fields: [{ key: 'name' }] });
  const left = await api.contact(EMAIL, { name: 'Old name' });
  await api.patch(`/v1/contacts/${left.id}`, { subscribed: false });
  await submitPage(api, form, { email: EMAIL, name: 'New name' });
  await confirmLink(await linkOf(api));
  const after = { data: { contact_id: left.id, email: EMAIL, name: 'New name' } };
  const eventsOf = async (type: string) =>
    (await api.events(type)).filter(({ data }) => data['contact_id'] === left.id);
  expect(await eventsOf('contact.subscribed')).toMatchObject([after]);
  expect(await eventsOf('contact.updated')).toMatchObject([after]);

  const second = await newForm(api, { name: 'Second', group_ids: [await newGroup(api, 'Second')] });
  await submitPage(api, second, { email: EMAIL });
  await confirmLink(await linkOf(api));
  expect(await eventsOf('contact.updated')).toMatchObject([after, after]);
  expect(await eventsOf('contact.subscribed')).toHaveLength(1);
});

test('a form with many submissions is deleted in several transactions', async () => {
  const api = await formsProject();
  const form = await newForm(api);
  await pool.query(
    `INSERT INTO form_submissions (id, project_id, form_id, email, email_key, expires_at, confirmed_at)
     SELECT 'fsb_' || $1 || lpad(n::text, 6, '0'), $2, $1, n || '@example.net', n || '@example.net', now(), now() FROM generate_series(1, 11000) AS n`,
    [form, api.projectId],
  );
  const left = async () => (await pool.query('SELECT FROM form_submissions WHERE form_id = $1', [form])).rowCount;
  const { status } = await interleave(
    (tx) => sql(tx, 'SELECT FROM form_submissions WHERE id = $1 FOR UPDATE', [`fsb_${form}011000`]),
    () => api.delete(`/v1/forms/${form}`),
    () => eventually(async () => expect(await left()).toBe(1_000)),
  );
  expect([status, await left()]).toEqual([200, 0]);
});

test('a link is refused after seven days, forged, or when its form is gone, and the submission is deleted then', async () => {
  const api = await formsProject();
  const form = await newForm(api);
  await submitPage(api, form, { email: EMAIL });
  const link = await linkOf(api);
  for (const bad of [`${link}x`, link.slice(0, -1), link.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))])
    expect((await confirmLink(bad)).status, bad).toBe(404);
  await age(form, '7 days');
  expect((await fetch(link)).status).toBe(410);
  expect((await confirmLink(link)).status).toBe(410);
  expect(await contactOf(api, EMAIL)).toBeUndefined();
  expect((await api.get(`/v1/forms/${form}/submissions`)).body.data).toMatchObject([{ status: 'expired' }]);
  await deleteOld();
  expect((await api.get(`/v1/forms/${form}/submissions`)).body.data).toEqual([]);

  await submitPage(api, form, { email: EMAIL });
  const later = await linkOf(api);
  await api.delete(`/v1/forms/${form}`);
  expect((await confirmLink(later)).status).toBe(410);
  expect((await fetch(`${api.url}/f/${form}`)).status).toBe(404);
});

test('the record of a consent stays as long as its contact, and then as long as events are kept', async () => {
  const api = await formsProject();
  const form = await newForm(api);
  await submitPage(api, form, { email: EMAIL });
  await confirmLink(await linkOf(api));
  const later = Date.now() + (config.RETENTION_DAYS + 1) * 86_400_000;
  const kept = async () => (await api.get(`/v1/forms/${form}/submissions`)).body.data.length;
  await deleteOld({ now: later });
  expect(await kept()).toBe(1);
  await api.delete(`/v1/contacts/${(await contactOf(api, EMAIL)).id}`);
  await deleteOld();
  expect(await kept()).toBe(1);
  await deleteOld({ now: later });
  expect(await kept()).toBe(0);
});

test('the response is the same whether an address is new, a contact, unsubscribed, bounced, or was submitted a moment ago', async () => {
  const api = await formsProject();
  const form = await newForm(api);
  await api.contact('known@example.net');
  await api.contact('left@example.net');
  await api.post('/v1/suppressions', { email: 'left@example.net', reason: 'unsubscribed' });
  await api.post('/v1/suppressions', { email: 'bounced@example.net', reason: 'bounced' });
  const texts = new Set<string>();
  for (const email of ['new', 'known', 'left', 'bounced', 'new'].map((name) => `${name}@example.net`)) {
    const reply = await submitPage(api, form, { email });
    texts.add(`${reply.status} ${(await reply.text()).replaceAll(email, '')}`);
  }
  expect(texts.size).toBe(1);
  // One each, and none to the address that bounced.
  expect((await mails(api)).map(({ email, suppressed }) => [email, suppressed])).toEqual([
    ['new@example.net', false],
    ['known@example.net', false],
    ['left@example.net', false],
    ['bounced@example.net', true],
  ]);
  const { data } = (await api.get(`/v1/forms/${form}/submissions`)).body;
  expect(data.map(({ email, status, blocked }: Record<string, unknown>) => [email, status, blocked])).toEqual([
    ['bounced@example.net', 'blocked', true],
    ['left@example.net', 'pending', false],
    ['known@example.net', 'pending', false],
    ['new@example.net', 'pending', false],
  ]);
  const counts = async () => (await api.get(`/v1/forms/${form}`)).body.data.submissionCounts;
  expect(await counts()).toEqual({ pending: 3, blocked: 1, confirmed: 0 });
  const listed = async (query: string) => {
    const { body } = await api.get(`/v1/forms/${form}/submissions?total=true&${query}`);
    return [body.total, ...body.data.map(({ email }: { email: string }) => email.split('@')[0])];
  };
  expect(await listed('status=pending')).toEqual([3, 'left', 'known', 'new']);
  expect(await listed('status=blocked')).toEqual([1, 'bounced']);
  expect(await listed('status=pending&email=bounced@example.net')).toEqual([0]);
  expect(await listed('status=blocked&email=Bounced@example.net')).toEqual([1, 'bounced']);
  const [first, cursor] = await api
    .get(`/v1/forms/${form}/submissions?status=pending&limit=2`)
    .then(({ body }) => [body.data.length, body.next_cursor]);
  expect([first, await listed(`status=pending&limit=2&cursor=${cursor}`)]).toEqual([2, [3, 'new']]);
  await pool.query('UPDATE form_submissions SET expires_at = now() WHERE form_id = $1', [form]);
  expect(await counts()).toEqual({ pending: 0, blocked: 0, confirmed: 0 });
});

test('who unsubscribed comes back by confirming; who bounced or complained since does not', async () => {
  const api = await formsProject();
  const group = await newGroup(api);
  const form = await newForm(api, { group_ids: [group] });
  const left = await api.contact('left@example.net', { name: 'Old name' });
  await api.patch(`/v1/contacts/${left.id}`, { subscribed: false });
  await submitPage(api, form, { email: 'left@example.net' });
  expect((await contactOf(api, 'left@example.net')).suppressionStatus).toBe('unsubscribed');
  await confirmLink(await linkOf(api));
  expect(await contactOf(api, 'left@example.net')).toMatchObject({
    id: left.id,
    name: 'Old name',
    suppressionStatus: 'none',
  });
  expect(await api.events('contact.subscribed')).toMatchObject([{ data: { contact_id: left.id } }]);

  await submitPage(api, form, { email: 'angry@example.net' });
  const link = await linkOf(api);
  await api.post('/v1/suppressions', { email: 'angry@example.net', reason: 'complained' });
  expect((await confirmLink(link)).status).toBe(409);
  expect(await contactOf(api, 'angry@example.net')).toBeUndefined();
  expect((await api.get('/v1/suppressions')).body.data).toMatchObject([
    { email: 'angry@example.net', reason: 'complained' },
  ]);
});

test('an address gets one email per hour and form and five a day, in any spelling, also from several submissions at once', async () => {
  const api = await formsProject();
  const [form, other] = [await newForm(api), await newForm(api, { name: 'Other' })];
  const replies = await Promise.all(Array.from({ length: 12 }, () => submitPage(api, form, { email: EMAIL })));
  expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(200));
  await submitPage(api, form, { email: 'ADA@EXAMPLE.NET' });
  expect(await mails(api)).toHaveLength(1);
  await submitPage(api, other, { email: EMAIL });
  expect(await mails(api)).toHaveLength(2);
  for (let hour = 0; hour < 6; hour++) {
    await age(form, '61 minutes');
    await submitPage(api, form, { email: EMAIL });
  }
  expect((await mails(api)).filter(({ email }) => email === EMAIL)).toHaveLength(5 + 1);
  // All of them are of one submission, and each of its links works.
  expect((await api.get(`/v1/forms/${form}/submissions`)).body.data).toHaveLength(1);
  const links = new Set((await mails(api)).map(({ text }) => /\/f\/confirm\/\S+/.exec(text)?.[0]));
  expect(links.size).toBe(2);
});

test('all forms of a project together send an address five emails per hour and ten a day', async () => {
  const api = await formsProject();
  const forms = await Promise.all(Array.from({ length: 12 }, (_, i) => newForm(api, { name: `Form ${i}` })));
  const submitAll = () => Promise.all(forms.map((form) => submitPage(api, form, { email: EMAIL })));
  expect((await submitAll()).map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect(await mails(api)).toHaveLength(5);
  for (let hour = 0; hour < 3; hour++) {
    await Promise.all(forms.map((form) => age(form, '61 minutes')));
    await submitAll();
  }
  expect(await mails(api)).toHaveLength(10);
  // Others are not affected, nor are forms that send no email.
  await submitPage(api, forms[0]!, { email: 'grace@example.net' });
  expect(await mails(api)).toHaveLength(11);
  const atOnce = await newForm(api, { name: 'At once', double_opt_in: false });
  await submitPage(api, atOnce, { email: EMAIL });
  expect(await contactOf(api, EMAIL)).toBeDefined();
});

test('a reminder is planned with the email, and canceled by the confirmation', async () => {
  const api = await formsProject();
  const form = await newForm(api, { reminder_after_hours: 24, subject: 'Please confirm' });
  await submitPage(api, form, { email: EMAIL });
  expect((await mails(api)).map(({ subject, scheduled }) => [subject, scheduled])).toEqual([
    ['Please confirm', false],
    ['Reminder: Please confirm', true],
  ]);
  await age(form, '2 hours');
  await submitPage(api, form, { email: EMAIL });
  const reminders = async () => (await mails(api)).filter(({ scheduled }) => scheduled).map(({ state }) => state);
  expect(await reminders()).toEqual(['canceled', 'planned']);
  await confirmLink(await linkOf(api));
  expect(await reminders()).toEqual(['canceled', 'canceled']);
});

test('the email has the content of the template, and the default content if the template has lost its link', async () => {
  const api = await formsProject();
  const template = async (body: string) => {
    const { id } = (await api.post('/v1/templates', { name: body, subject: 'Hi {{name|there}}', body })).body.data;
    await api.post(`/v1/templates/${id}/publish`);
    return id as string;
  };
  const withoutLink = await api.post('/v1/forms', {
    name: 'Bad',
    from: 'news@example.com',
    template_id: await template('<p>Hi</p>'),
  });
  expect(withoutLink.body.error.details).toMatchObject([
    { field: 'template_id', message: expect.stringContaining('confirm_url') },
  ]);
  const templateId = await template('<p><a href="{{confirm_url}}">Yes, {{name|friend}}</a></p>');
  const form = await newForm(api, { template_id: templateId, fields: [{ key: 'name' }], reminder_after_hours: 1 });
  await submitPage(api, form, { email: EMAIL, name: 'Ada' });
  const [mail, reminder] = await mails(api);
  expect(mail).toMatchObject({ subject: 'Hi Ada', html: expect.stringMatching(/Yes, Ada/) });
  expect(reminder).toMatchObject({ subject: 'Reminder: Hi Ada' });
  expect((await confirmLink(await linkOf(api))).status).toBe(200);

  const body = '<p>Dear {{name}}, <a href="{{confirm_url}}">confirm</a></p>';
  await api.patch(`/v1/templates/${templateId}`, { body });
  await api.post(`/v1/templates/${templateId}/publish`);
  await submitPage(api, form, { email: 'cy@example.net' });
  expect((await mails(api)).at(-2)).toMatchObject({ html: expect.stringContaining('Dear , <a') });

  await api.patch(`/v1/templates/${templateId}`, { body: '<p>{{unknown}}</p>' });
  await api.post(`/v1/templates/${templateId}/publish`);
  await submitPage(api, form, { email: 'bob@example.net' });
  expect((await mails(api)).at(-2)).toMatchObject({
    text: expect.stringContaining('Please confirm that Acme may send email to bob@example.net.'),
  });
});

test('programs are kept out: by a field that people cannot see, and by pages that were not shown before', async () => {
  const api = await formsProject();
  const form = await newForm(api, { allowed_origins: ['https://www.example.com'] });
  expect((await submitPage(api, form, { email: EMAIL, [HONEYPOT_FIELD]: 'x' })).status).toBe(200);
  for (const token of [
    '',
    'x',
    pageToken(form),
    pageToken(form, Date.now() - 2 * 86_400_000),
    pageToken('frm_other', Date.now() - 9_000),
  ]) {
    const reply = await submitPage(api, form, { email: EMAIL, [PAGE_TOKEN]: token });
    expect(reply.status).toBe(400);
    // Nothing that was entered is lost.
    expect(await reply.text()).toContain(`value="${EMAIL}"`);
  }
  expect(await mails(api)).toEqual([]);
  const embedded = await submitPage(
    api,
    form,
    { email: EMAIL, [PAGE_TOKEN]: '' },
    { Origin: 'https://www.example.com' },
  );
  expect(embedded.status).toBe(200);
  expect(await mails(api)).toHaveLength(1);
});

test('a page with problems names all of them, and what is corrected at once is accepted', async () => {
  const api = await formsProject();
  // A key that every object has.
  await api.post('/v1/custom-fields', { key: 'constructor', label: 'Builder', type: 'text' });
  const builder = 'custom_fields.constructor';
  const fields = [
    { key: 'name', required: true },
    { key: builder, required: true },
  ];
  const form = await newForm(api, { fields, consent_text: 'I agree.' });
  const refused = await submitPage(api, form, { email: 'ada', name: '' });
  expect(refused.status).toBe(400);
  const page = await refused.text();
  for (const problem of [
    'Email must be an email address',
    'Name is required.',
    'Builder is required.',
    'Your consent is required.',
  ])
    expect(page.split(problem), problem).toHaveLength(3); // in the summary and at its field
  const token = /name="page" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const entered = { email: EMAIL, name: 'Ada', [builder]: 'Acme', consent: 'true' };
  const corrected = await submitPage(api, form, { ...entered, [PAGE_TOKEN]: token });
  expect(corrected.status).toBe(200);
});

test('a required field that is left blank is named together with an invalid address', async () => {
  const api = await formsProject();
  await api.post('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
  const fields = [
    { key: 'name', required: true },
    { key: 'custom_fields.city', required: true },
  ];
  const form = await newForm(api, { fields });
  const refused = await submitPage(api, form, { email: 'ada', name: ' ', 'custom_fields.city': ' ' });
  expect(refused.status).toBe(400);
  const page = await refused.text();
  for (const problem of ['Email must be an email address', 'Name is required.', 'City is required.'])
    expect(page, problem).toContain(problem);
});

test('a visitor and a form are rate-limited', async () => {
  const api = await formsProject();
  const [form, other] = [await newForm(api), await newForm(api, { name: 'Other' })];
  const from = { 'X-Forwarded-For': newVisitor() };
  const statuses: number[] = [];
  for (let n = 0; n < 12; n++)
    statuses.push((await submitPage(api, n % 2 === 0 ? form : other, { email: `a${n}@example.net` }, from)).status);
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200));
  expect(statuses.at(-1)).toBe(429);
  expect((await submitPage(api, form, { email: 'b@example.net' })).status).toBe(200);
});

test('JSON is accepted from the allowed origins only, which may read the response', async () => {
  const api = await formsProject();
  await api.post('/v1/custom-fields', { key: 'age', label: 'Age', type: 'number' });
  const form = await newForm(api, {
    allowed_origins: ['https://www.example.com'],
    fields: [{ key: 'custom_fields.age' }],
    consent_text: 'Yes',
    submitted_url: 'https://www.example.com/thanks',
  });
  const post = (body: unknown, origin: string | undefined) =>
    fetch(`${api.url}/f/${form}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Forwarded-For': newVisitor(),
        ...(origin === undefined ? {} : { Origin: origin }),
      },
      body: JSON.stringify(body),
    });
  const good = { email: EMAIL, custom_fields: { age: 36 }, consent: true };
  for (const origin of [undefined, 'https://evil.example']) {
    const reply = await post(good, origin);
    expect(reply.status).toBe(403);
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  }
  const origin = 'https://www.example.com';
  const preflight = await fetch(`${api.url}/f/${form}`, {
    method: 'OPTIONS',
    headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
  });
  expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
  const bad = await post({ email: 'no', custom_fields: { age: 'old' } }, origin);
  expect(bad.status).toBe(400);
  expect(
    ((await bad.json()) as { error: { details: { field: string }[] } }).error.details.map(({ field }) => field),
  ).toEqual(['email', 'custom_fields.age', 'consent']);
  const list = (await (await post({ ...good, custom_fields: { age: [36] } }, origin)).json()) as object;
  expect(list).toMatchObject({
    error: { details: [{ field: 'custom_fields.age', message: 'must be a string, a number, true or false' }] },
  });
  const accepted = await post(good, origin);
  expect(accepted.status).toBe(202);
  expect(accepted.headers.get('access-control-allow-origin')).toBe(origin);
  expect(await accepted.json()).toEqual({
    data: { status: 'confirmation_sent', redirectUrl: 'https://www.example.com/thanks' },
  });
});

test('a form in another encoding than UTF-8 is rejected instead of storing other characters', async () => {
  const api = await formsProject();
  const form = await newForm(api, { fields: [{ key: 'name' }], allowed_origins: ['https://www.example.com'] });
  const reply = await fetch(`${api.url}/f/${form}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Origin: 'https://www.example.com',
      'X-Forwarded-For': newVisitor(),
    },
    body: `email=${EMAIL}&name=Jos%E9`,
  });
  expect(reply.status).toBe(400);
  expect(await reply.text()).toContain('must be valid UTF-8');
  const { embedHtml } = (await api.get(`/v1/forms/${form}`)).body.data;
  expect(embedHtml).toContain('accept-charset="utf-8"');
});

test('browsers are redirected after submission and confirmation, which the policy of the pages allows', async () => {
  const api = await formsProject();
  const form = await newForm(api, {
    submitted_url: 'https://example.com/thanks',
    confirmed_url: 'https://example.com/welcome',
  });
  const page = await fetch(`${api.url}/f/${form}`);
  expect(page.headers.get('content-security-policy')).toContain("form-action 'self' https: http:");
  const submitted = await submitPage(api, form, { email: EMAIL });
  expect([submitted.status, submitted.headers.get('location')]).toEqual([303, 'https://example.com/thanks']);
  const confirmed = await confirmLink(await linkOf(api));
  expect([confirmed.status, confirmed.headers.get('location')]).toEqual([303, 'https://example.com/welcome']);
  await api.patch(`/v1/forms/${form}`, { submitted_url: 'https://bücher.example/danke schön?q=☃' });
  const elsewhere = await submitPage(api, form, { email: 'grace@example.net' });
  expect(elsewhere.headers.get('location')).toBe('https://xn--bcher-kva.example/danke%20sch%C3%B6n?q=%E2%98%83');
});

test('without double opt-in a submission subscribes at once, but changes no contact that exists and nobody who unsubscribed', async () => {
  const api = await formsProject();
  const group = await newGroup(api);
  const form = await newForm(api, { double_opt_in: false, from: null, group_ids: [group], fields: [{ key: 'name' }] });
  await submitPage(api, form, { email: EMAIL, name: 'Ada' });
  expect(await contactOf(api, EMAIL)).toMatchObject({ name: 'Ada', source: 'form' });
  const known = await api.contact('known@example.net', { name: 'Known' });
  await submitPage(api, form, { email: known.email, name: 'Mallory' });
  expect(await contactOf(api, known.email)).toMatchObject({ name: 'Known' });
  const left = await api.contact('left@example.net');
  await api.patch(`/v1/contacts/${left.id}`, { subscribed: false });
  expect(await (await submitPage(api, form, { email: left.email })).text()).toContain('Thank you');
  expect((await contactOf(api, left.email)).suppressionStatus).toBe('unsubscribed');
  const { contacts } = (await api.get(`/v1/groups/${group}`)).body.data;
  expect(contacts.map(({ email }: { email: string }) => email).sort()).toEqual([
    EMAIL,
    'first.readers@example.net',
    'known@example.net',
  ]);
  expect(await mails(api)).toEqual([]);
});

test('a confirmation brings a contact back to a group that it left', async () => {
  const api = await formsProject();
  const group = await newGroup(api);
  const form = await newForm(api, { group_ids: [group] });
  const ada = await api.contact(EMAIL);
  await api.post(`/v1/groups/${group}/contacts`, { contact_ids: [ada.id] });
  await pool.query('INSERT INTO group_opt_outs (group_id, contact_id) VALUES ($1, $2)', [group, ada.id]);
  await submitPage(api, form, { email: EMAIL });
  await confirmLink(await linkOf(api));
  expect((await pool.query('SELECT FROM group_opt_outs WHERE contact_id = $1', [ada.id])).rows).toEqual([]);
});

test('settings are validated, each problem naming its field', async () => {
  const api = await formsProject();
  const other = await formsProject();
  const foreign = await newGroup(other);
  const { body } = await api.post('/v1/forms', {
    name: 'Bad',
    from: 'news@elsewhere.example',
    group_ids: [foreign],
    fields: [{ key: 'phone' }, { key: 'name' }, { key: 'name' }],
    submitted_url: 'javascript:alert(1)',
    confirmed_url: 'https://user:secret@example.com/',
    allowed_origins: ['https://example.com/page'],
    template_id: 'tpl_01h455vb4pex5vsknk084sn02q',
    reminder_after_hours: 500,
  });
  expect(body.error.details.map(({ field }: { field: string }) => field).sort()).toEqual([
    'allowed_origins.0',
    'confirmed_url',
    'fields.0.key',
    'fields.2.key',
    'from',
    'group_ids.0',
    'reminder_after_hours',
    'submitted_url',
    'template_id',
  ]);
  expect(body.error.details).toMatchObject(
    expect.arrayContaining([
      { field: 'submitted_url', message: 'must be an https:// or http:// URL' },
      { field: 'confirmed_url', message: 'must not contain a username or password' },
    ]),
  );
  const split = { submitted_url: 'https://example.com/\r\nX: y', allowed_origins: ['https://*.example.com'] };
  const fields = (await api.post('/v1/forms', { name: 'Bad', from: 'Acme <news@example.com>', ...split })).body.error
    .details;
  expect(fields).toMatchObject([{ field: 'submitted_url' }, { field: 'allowed_origins.0' }]);
  expect((await api.post('/v1/forms', { name: 'No sender' })).body.error.details).toMatchObject([{ field: 'from' }]);
  const form = await newForm(api);
  expect((await api.post('/v1/forms', { name: 'Newsletter', from: 'news@example.com' })).status).toBe(409);
  expect((await api.patch(`/v1/forms/${form}`, { from: null })).body.error.details).toMatchObject([{ field: 'from' }]);
  expect((await api.patch(`/v1/forms/${form}`, { enabled: false, version: 1 })).body.data).toMatchObject({
    enabled: false,
    version: 2,
  });
  expect((await api.patch(`/v1/forms/${form}`, { enabled: true, version: 1 })).status).toBe(409);
  expect((await submitPage(api, form, { email: EMAIL })).status).toBe(404);
});

test('a form and its submissions belong to their project', async () => {
  const [api, other] = [await formsProject(), await testApi()];
  const form = await newForm(api);
  await submitPage(api, form, { email: EMAIL });
  const { data } = (await api.get(`/v1/forms/${form}/submissions`)).body;
  for (const path of [`/v1/forms/${form}`, `/v1/forms/${form}/submissions`])
    expect((await other.get(path)).status).toBe(404);
  expect((await other.patch(`/v1/forms/${form}`, { enabled: false })).status).toBe(404);
  expect((await other.delete(`/v1/forms/${form}`)).status).toBe(404);
  const nodes = await other.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [form, data[0].id] });
  expect(nodes.body.data.nodes).toEqual([null, null]);
});

test('a confirmation starts a run of a journey exactly once', async () => {
  await startTestWorker();
  const api = await formsProject();
  const form = await newForm(api);
  const definition = {
    entry: { type: 'form_confirmed', form_id: form },
    reentry: 'always',
    steps: [{ id: 'end', type: 'wait', for: { days: 1 } }],
  };
  const { id } = (await api.post('/v1/journeys', { name: 'Welcome', definition })).body.data;
  const published = await api.post(`/v1/journeys/${id}/publish`, {});
  expect(published.status, JSON.stringify(published.body)).toBe(200);
  await submitPage(api, form, { email: EMAIL });
  const link = await linkOf(api);
  await Promise.all([confirmLink(link), confirmLink(link)]);
  await confirmLink(link);
  const contact = await contactOf(api, EMAIL);
  await eventually(async () =>
    expect((await api.get(`/v1/journeys/${id}/enrollments`)).body.data).toMatchObject([
      { contactId: contact.id, stepId: 'end', properties: { form_id: form } },
    ]),
  );
  await api.delete(`/v1/forms/${form}`);
  const { problems } = (await api.get(`/v1/journeys/${id}`)).body.data;
  expect(problems).toMatchObject([
    { field: 'definition.entry.form_id', message: expect.stringMatching(/No such form/) },
  ]);
});

test('an expired submission is not deleted if it is submitted again at the same moment', async () => {
  const api = await formsProject();
  const form = await newForm(api);
  await submitPage(api, form, { email: EMAIL });
  await age(form, '8 days');
  await interleave(
    (tx) => sql(tx, `UPDATE form_submissions SET expires_at = now() + interval '7 days' WHERE form_id = $1`, [form]),
    () => deleteOld(),
  );
  expect((await api.get(`/v1/forms/${form}/submissions`)).body.data).toHaveLength(1);
});

test('an address is submitted again while its earlier submission is being confirmed', async () => {
  const api = await formsProject();
  const form = await newForm(api, { reminder_after_hours: 24 });
  await submitPage(api, form, { email: EMAIL });
  await age(form, '2 hours');
  const reply = await interleave(
    (tx) => sql(tx, 'SELECT FROM form_submissions WHERE form_id = $1 FOR UPDATE', [form]),
    () => submitPage(api, form, { email: EMAIL }),
    (tx) => cancelReminders(tx, 'form_id = $1', form),
  );
  expect(reply.status).toBeLessThan(400);
});
