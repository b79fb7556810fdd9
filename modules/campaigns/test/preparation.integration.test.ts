import { newId, pool } from '@postroom/platform';
import { signedIn } from '@postroom/testkit';
import { describe, expect, test } from 'vitest';
import { getCampaign } from '../src/campaigns.ts';
import { compileCampaign, contentOf } from '../src/content.ts';
import { snapshotRecipients } from '../src/snapshot-recipients.ts';
import { readyCampaign } from './ready-campaign.ts';

type Ready = Awaited<ReturnType<typeof readyCampaign>>;

const preflightOf = async ({ api, campaign }: Ready) =>
  (await api.post(`/v1/campaigns/${campaign.id}/preflight`)).body.data;

const warningsOf = async (ready: Ready): Promise<string[]> =>
  (await preflightOf(ready)).warnings.map(
    ({ field, message }: { field: string; message: string }) => `${field} ${message}`,
  );

/** The text and the HTML part that a recipient gets. */
async function partsOf({ api, campaign }: Ready): Promise<{ text: string; html: string }> {
  const frame = await compileCampaign(await contentOf(await getCampaign(api.projectId, campaign.id)));
  const ada = { id: newId('eml'), email: 'ada@example.net', name: 'Ada', customFields: null };
  const [, text = '', html = ''] = frame
    .render(ada, new Date())
    .data.split(/\r\n--=_\w+/)
    .map((part) =>
      Buffer.from(
        part.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
        'latin1',
      ).toString('utf8'),
    );
  return { text, html };
}

async function setAddress({ api }: Ready, address: string | null, role: 'owner' | 'member' = 'owner') {
  const person = await signedIn(api, role);
  const { body } = await person.graphql(
    'mutation ($address: String) { setPostalAddress(address: $address) { postalAddress } }',
    { address },
  );
  return body;
}

describe('conditions', () => {
  test('around the unsubscribe link or the address do not remove them for anyone', async () => {
    const ready = await readyCampaign({
      html: '<body>{% if name == "Ada" %}a{% else %}<a href="{{unsubscribe_url}}">Leave</a></body>{% endif %}',
      text: 'Hi{% if name == "Bob" %}{{unsubscribe_url}}{{postal_address}}{% endif %}',
    });
    await setAddress(ready, '1 Main Street');
    const { html, text } = await partsOf(ready);
    for (const part of [html, text]) expect(part).toMatch(/\/u\/[0-9a-z]{26}/);
    for (const part of [html, text]) expect(part).toContain('1 Main Street');
  });

  test('can ask for the postal address, and placeholders inside of them are not required', async () => {
    const ready = await readyCampaign({
      html: '{% if postal_address %}<p>At {{ postal_address | upcase }}</p>{% endif %}{% if company %}{{company}}{% endif %}',
    });
    await setAddress(ready, '1 Main Street');
    expect((await partsOf(ready)).html).toContain('<p>At 1 MAIN STREET</p>');
    expect((await preflightOf(ready)).variables.map(({ name }: { name: string }) => name)).toEqual(['name']);
  });

  test('with an error are refused with line and column', async () => {
    const { api, campaign } = await readyCampaign();
    const reply = await api.patch(`/v1/campaigns/${campaign.id}`, {
      html: '<p>\n  {% if plan = "pro" %}x{% endif %}</p>',
    });
    expect(reply.status).toBe(400);
    expect(reply.body.error.details).toEqual([
      { field: 'html', message: 'line 2, column 3: "if" compares with "==", not "=".' },
    ]);
  });
});

describe('a subject', () => {
  test('that shows nothing is a problem before sending', async () => {
    const { api, campaign } = await readyCampaign({
      subject: '{% assign greeting = name %} {% if name %} {% endif %}',
    });
    const problem = { field: 'subject', message: expect.stringContaining('shows nothing') };
    const { isReady, problems } = await preflightOf({ api, campaign } as Ready);
    expect({ isReady, problems }).toEqual({ isReady: false, problems: [problem] });
    const sent = await api.post(`/v1/campaigns/${campaign.id}/send`);
    expect(sent).toMatchObject({ status: 400, body: { error: { code: 'validation_error', details: [problem] } } });
  });

  test('that is empty without values is a warning, and fails only the messages to contacts without them', async () => {
    const ready = await readyCampaign({ subject: '{% if plan == "pro" %}News for {{plan}}{% endif %}' });
    expect(await warningsOf(ready)).toContainEqual(expect.stringMatching(/^subject is empty for recipients without/));
    expect((await preflightOf(ready)).isReady).toBe(true);
    const { api, campaign } = ready;
    const { render } = await compileCampaign(await contentOf(await getCampaign(api.projectId, campaign.id)));
    const ada = (customFields: Record<string, unknown>) =>
      render({ id: newId('eml'), email: 'ada@example.net', name: null, customFields }, new Date());
    expect(ada({ plan: 'pro' }).data).toContain('Subject: News for pro\r\n');
    expect(() => ada({})).toThrow(expect.objectContaining({ field: 'subject' }));
  });
});

describe('preview text', () => {
  test('is the first text of the HTML, hidden, with its placeholders; the text part does not repeat it', async () => {
    const ready = await readyCampaign({
      preview_text: ' Salt & pepper for {{name|you}}{% if name == "Ada" %}!{% endif %} ',
      html: '<body><p>Hello</p></body>',
    });
    expect(ready.campaign.previewText).toBe('Salt & pepper for {{name|you}}{% if name == "Ada" %}!{% endif %}');
    const { html, text } = await partsOf(ready);
    expect(html).toMatch(
      /<body><div style="display:none[^>]*>Salt &amp; pepper for Ada!(&#847;|&zwnj;|&nbsp;)+<\/div><p>Hello/,
    );
    expect(text).toMatch(/printable\r?\n\r?\nHello\r?\n/);
    expect((await ready.api.patch(`/v1/campaigns/${ready.campaign.id}`, { preview_text: null })).status).toBe(200);
    expect((await partsOf(ready)).html).toContain('<body><p>Hello');
  });

  test('is limited to 300 characters, and its placeholders are checked', async () => {
    const { api, campaign } = await readyCampaign();
    for (const preview_text of ['x'.repeat(301), 'Hello {{name']) {
      const reply = await api.patch(`/v1/campaigns/${campaign.id}`, { preview_text });
      expect([reply.status, reply.body.error.details[0].field]).toEqual([400, 'preview_text']);
    }
  });
});

describe('UTM parameters', () => {
  test('are added to the links of both parts, and to no unsubscribe link', async () => {
    const ready = await readyCampaign({
      html: '<a href="https://shop.test/?a=1">Shop</a> <a href="mailto:a@shop.test">Write</a>',
      utm_source: ' news ',
      utm_campaign: 'autumn sale',
      utm_term: '',
    });
    expect(ready.campaign).toMatchObject({ utmSource: 'news', utmCampaign: 'autumn sale', utmTerm: null });
    const { html, text } = await partsOf(ready);
    expect(html).toContain('href="https://shop.test/?a=1&amp;utm_source=news&amp;utm_campaign=autumn%20sale"');
    expect(text).toContain('<https://shop.test/?a=1&utm_source=news&utm_campaign=autumn%20sale>');
    expect(html.match(/utm_source/g)).toHaveLength(1);
    expect(html).toContain('href="mailto:a@shop.test"');
  });

  test('are limited to 200 characters', async () => {
    const { api, campaign } = await readyCampaign();
    const reply = await api.patch(`/v1/campaigns/${campaign.id}`, { utm_medium: 'x'.repeat(201) });
    expect([reply.status, reply.body.error.details[0].field]).toEqual([400, 'utm_medium']);
  });
});

describe('the postal address of the project', () => {
  test('is in the footer of both parts, once, unless the content shows it', async () => {
    const ready = await readyCampaign();
    expect((await setAddress(ready, ' Acme Ltd,\n\n1 Main <Street> ')).data.setPostalAddress.postalAddress).toBe(
      'Acme Ltd,\n1 Main <Street>',
    );
    const { html, text } = await partsOf(ready);
    expect(html).toContain('Acme Ltd, 1 Main &lt;Street&gt;<br><a href=');
    expect(text).toContain('Acme Ltd, 1 Main <Street>');
    for (const own of ['<p>{{postal_address}}</p>', '<p>Acme Ltd, 1 Main &lt;Street&gt;</p>']) {
      await ready.api.patch(`/v1/campaigns/${ready.campaign.id}`, { html: own });
      expect((await partsOf(ready)).html.match(/Acme Ltd/g)).toHaveLength(1);
    }
    await setAddress(ready, null);
    await ready.api.patch(`/v1/campaigns/${ready.campaign.id}`, { html: '<p>{{postal_address|nowhere}}</p>' });
    expect((await partsOf(ready)).html).toContain('<p>nowhere</p>');
    expect((await ready.api.get('/v1/projects')).body.data[0].postalAddress).toBeNull();
  });

  test('fills {{postal_address}} in transactional email from a template', async () => {
    const ready = await readyCampaign();
    const template = (
      await ready.api.post('/v1/templates', { name: 'T', subject: 'S', body: '<p>{{postal_address}}</p>' })
    ).body.data;
    await ready.api.post(`/v1/templates/${template.id}/publish`);
    const email = { from: 'a@example.com', to: 'ada@example.net', template_id: template.id };
    expect((await ready.api.post('/v1/emails', email)).body.error.details[0].field).toBe('variables.postal_address');
    await setAddress(ready, 'Acme Ltd,\n1 Main Street');
    const { id } = (await ready.api.post('/v1/emails', email)).body.data;
    expect((await ready.api.get(`/v1/emails/${id}`)).body.data.html).toBe('<p>Acme Ltd, 1 Main Street</p>');
  });

  test('is set by owners and admins only, and has at most 500 characters', async () => {
    const ready = await readyCampaign();
    expect((await setAddress(ready, 'Elsewhere', 'member')).errors[0].extensions.code).toBe('forbidden');
    expect((await setAddress(ready, 'x'.repeat(501))).errors[0].extensions.details[0].field).toBe('address');
  });
});

describe('exclusions', () => {
  /** Ada, Bob and Eve are readers. Bob is also in a group, and Eve in a segment, to exclude. */
  async function withExclusions() {
    const ready = await readyCampaign();
    const { api, group } = ready;
    const [bob, eve] = [await api.contact('bob@example.net'), await api.contact('eve@other.test')];
    await api.post(`/v1/groups/${group.id}/contacts`, { contact_ids: [bob.id, eve.id] });
    const customers = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [bob.id] })).body.data;
    const filter = { field: 'email', op: 'endsWith', value: '@other.test' };
    const segment = (await api.post('/v1/segments', { name: 'Others', filter })).body.data;
    return { ready, bob, eve, customers, segment };
  }

  test('leave the contacts of groups and segments out of the snapshot, and are counted', async () => {
    const { ready, customers, segment } = await withExclusions();
    const edit = { excluded_group_ids: [customers.id, customers.id], excluded_segment_ids: [segment.id] };
    const saved = await ready.api.patch(`/v1/campaigns/${ready.campaign.id}`, edit);
    expect(saved.body.data).toMatchObject({ excludedGroupIds: [customers.id], excludedSegmentIds: [segment.id] });
    const { audience } = await preflightOf(ready);
    expect(audience).toEqual({ contacts: 3, recipients: 1, excluded: [{ reason: 'excluded', contacts: 2 }] });
    expect(await snapshotRecipients(ready.campaign.id)).toEqual({ recipients: 1, suppressed: 0 });
    const { rows } = await pool.query('SELECT email FROM messages WHERE campaign_id = $1', [ready.campaign.id]);
    expect(rows).toEqual([{ email: 'ada@example.net' }]);
  });

  test('of everyone leave no recipients, so the campaign cannot be sent', async () => {
    const { ready } = await withExclusions();
    await ready.api.patch(`/v1/campaigns/${ready.campaign.id}`, { excluded_group_ids: [ready.group.id] });
    const reply = await ready.api.post(`/v1/campaigns/${ready.campaign.id}/send`);
    expect([reply.status, reply.body.error.details[0].field]).toEqual([400, 'recipients']);
  });

  test('that were deleted stop the campaign instead of being ignored', async () => {
    const { ready, segment } = await withExclusions();
    await ready.api.patch(`/v1/campaigns/${ready.campaign.id}`, { excluded_segment_ids: [segment.id] });
    await ready.api.delete(`/v1/segments/${segment.id}`);
    const reply = await ready.api.post(`/v1/campaigns/${ready.campaign.id}/send`);
    expect([reply.status, reply.body.error.details[0].field]).toEqual([400, 'excluded_segment_ids.0']);
    await expect(snapshotRecipients(ready.campaign.id)).rejects.toThrow(
      `excludedSegmentIds.0 is the segment ${segment.id}, which was deleted.`,
    );
  });

  test('by a condition on a group that was deleted stop the campaign, since it would reach everyone', async () => {
    const { ready, customers } = await withExclusions();
    const filter = { not: { field: 'group', op: 'is', value: customers.id } };
    const { id } = (await ready.api.post('/v1/segments', { name: 'No customers', filter })).body.data;
    await ready.api.patch(`/v1/campaigns/${ready.campaign.id}`, { segment_ids: [id] });
    await ready.api.delete(`/v1/groups/${customers.id}`);
    const { error } = (await ready.api.post(`/v1/campaigns/${ready.campaign.id}/send`)).body;
    expect(error.details[0]).toEqual({
      field: 'segment_ids.0',
      message: `has a condition on the group ${customers.id}, which was deleted`,
    });
  });

  test('of another project are rejected', async () => {
    const { ready } = await withExclusions();
    const other = await withExclusions();
    const edit = { excluded_group_ids: [other.customers.id], excluded_segment_ids: [other.segment.id] };
    const reply = await ready.api.patch(`/v1/campaigns/${ready.campaign.id}`, edit);
    expect(reply.body.error.details.map(({ field }: { field: string }) => field)).toEqual([
      'excluded_group_ids.0',
      'excluded_segment_ids.0',
    ]);
  });
});

test('preflight warns about starter text, example links, a missing preview text and a missing postal address', async () => {
  const ready = await readyCampaign({
    html: '<p>Write your message here.</p><a href="https://www.example.com/a">x</a>',
  });
  expect(await warningsOf(ready)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^preview_text is missing/),
      'html still says "Write your message here"',
      expect.stringMatching(/"https:\/\/www.example.com\/a" leads to an example domain/),
      expect.stringMatching(/^postal_address is not set/),
    ]),
  );
  await setAddress(ready, '1 Main Street');
  const html = '<div style="display: none">Read on</div><p>Hello</p><a href="https://postroom.dev/">x</a>';
  await ready.api.patch(`/v1/campaigns/${ready.campaign.id}`, { html });
  expect((await warningsOf(ready)).join()).not.toMatch(/preview_text|still says|example domain|postal_address/);
});

test('an edit meant for a draft is a conflict once the campaign is scheduled', async () => {
  const { api, campaign } = await readyCampaign();
  const edit = (ifStatus: string) =>
    api.patch(`/v1/campaigns/${campaign.id}`, { subject: `If ${ifStatus}`, if_status: ifStatus });
  expect((await edit('draft')).status).toBe(200);
  const later = new Date(Date.now() + 3_600_000).toISOString();
  await api.post(`/v1/campaigns/${campaign.id}/schedule`, { scheduled_at: later });
  expect((await edit('draft')).body.error).toMatchObject({
    code: 'conflict',
    message: 'This campaign is scheduled now, so the edit was not applied.',
    details: [{ field: 'if_status' }],
  });
  expect((await edit('scheduled')).body.data).toMatchObject({ subject: 'If scheduled', status: 'scheduled' });
});

test('transactional email sends what is published of a template, and a test its draft', async () => {
  const { api } = await readyCampaign();
  const { id } = (await api.post('/v1/templates', { name: 'Letter', subject: 'One', body: '<p>One</p>' })).body.data;
  await api.post(`/v1/templates/${id}/publish`);
  await api.patch(`/v1/templates/${id}`, { body: '<p>Two</p>' });
  const sent = await api.post('/v1/emails', { from: 'a@example.com', to: 'ada@example.net', template_id: id });
  expect((await api.get(`/v1/emails/${sent.body.data.id}`)).body.data.html).toBe('<p>One</p>');
  const tested = await api.post(`/v1/templates/${id}/test`, {
    emails: ['ada@example.net'],
    from_email: 'a@example.com',
  });
  expect(tested.status).toBe(202);
  const email = (await api.get(`/v1/emails/${tested.body.data[0].id}`)).body.data;
  expect(email).toMatchObject({ subject: '[Test] One', html: expect.stringContaining('<p>Two</p>'), tags: ['test'] });
});

test('a campaign that was edited since the version to send is not sent', async () => {
  const { api, campaign } = await readyCampaign();
  const person = await signedIn(api);
  const send = async (version: number) =>
    (
      await person.graphql(
        'mutation ($id: ID!, $version: Int) { sendCampaign(id: $id, version: $version) { status } }',
        { id: campaign.id, version },
      )
    ).body;
  const { version } = (await api.patch(`/v1/campaigns/${campaign.id}`, { subject: 'Other news' })).body.data;
  expect((await send(version - 1)).errors[0].extensions).toMatchObject({
    code: 'conflict',
    details: [{ field: 'version' }],
  });
  expect((await api.get(`/v1/campaigns/${campaign.id}`)).body.data.status).toBe('draft');
  expect((await send(version)).data.sendCampaign.status).toBe('sending');
});
