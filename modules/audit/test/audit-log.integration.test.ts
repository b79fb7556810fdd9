import { addLocalDomain } from '@postroom/domains';
import { audit, newId, pool } from '@postroom/platform';
import { type Api, eventually, type SignedIn, signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const LOG = `query ($filter: AuditLogFilter) { auditLog(filter: $filter) { totalCount nodes {
  actorId actorName action actionLabel targetId targetKind targetName changes { field label before after }
} } }`;

async function log(user: SignedIn, filter: object = {}) {
  const { body } = await user.graphql(LOG, { filter });
  expect(body.errors).toBeUndefined();
  return body.data.auditLog;
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

async function create(api: Api, path: string, body: object): Promise<string> {
  const reply = await api.post(path, body);
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
  return reply.body.data.id;
}

test('an update is recorded with the names and the values before and after it', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const id = await create(api, '/v1/campaigns', { name: 'News', subject: 'Hello' });
  const update = 'mutation ($id: ID!, $input: UpdateCampaignInput!) { updateCampaign(id: $id, input: $input) { id } }';
  await owner.graphql(update, { id, input: { name: 'Autumn news', subject: 'Hello', ratePerSecond: 5 } });
  const { nodes } = await log(owner, { actorId: owner.id });
  expect(nodes).toEqual([
    {
      actorId: owner.id,
      actorName: 'A Person',
      action: 'updateCampaign',
      actionLabel: 'Changed campaign',
      targetId: id,
      targetKind: 'campaign',
      targetName: 'News',
      changes: [
        { field: 'name', label: 'Name', before: 'News', after: 'Autumn news' },
        { field: 'ratePerSecond', label: 'Rate per second', before: null, after: 5 },
      ],
    },
  ]);
});

test('a deleted object keeps its name in the log, and a created one has it', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const created = await owner.graphql(
    'mutation ($input: CreateTemplateInput!) { createTemplate(input: $input) { id } }',
    { input: { name: 'Welcome', body: 'Hello' } },
  );
  const { id } = created.body.data.createTemplate;
  await owner.graphql('mutation ($id: ID!) { templateDelete(id: $id) { deletedId } }', { id });
  expect((await log(owner)).nodes).toMatchObject([
    { action: 'deleteTemplate', targetId: id, targetName: 'Welcome', changes: [] },
    { action: 'createTemplate', targetId: id, targetName: 'Welcome', changes: [] },
  ]);
});

test('settings of the project and roles of members are recorded as updates of the project and the member', async () => {
  const api = await testApi();
  const [owner, member] = [await signedIn(api), await signedIn(api, 'member')];
  await owner.graphql('mutation { setBrandColor(color: "#1f5eff") { id } }');
  await owner.graphql('mutation { updateSendingPolicy(input: { refusalsInRow: 10 }) { refusalsInRow } }');
  await owner.graphql('mutation ($id: ID!) { memberChangeRole(userId: $id, role: admin) { member { role } } }', {
    id: member.id,
  });
  expect((await log(owner)).nodes).toMatchObject([
    {
      action: 'changeRole',
      targetId: member.id,
      targetKind: 'user',
      targetName: 'A Person',
      changes: [{ field: 'role', before: 'member', after: 'admin' }],
    },
    {
      action: 'updateSendingPolicy',
      targetId: api.projectId,
      targetKind: 'project',
      changes: [{ field: 'refusalsInRow', before: 25, after: 10 }],
    },
    {
      action: 'setBrandColor',
      targetId: api.projectId,
      changes: [{ field: 'brandColor', label: 'Brand color', before: null, after: '#1f5eff' }],
    },
  ]);
});

test('an email that a user reschedules and cancels has both in the log, without its subject', async () => {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  const owner = await signedIn(api);
  const [first, second] = [inDays(1), inDays(2)];
  const id = await create(api, '/v1/emails', {
    from: 'hello@example.com',
    to: ['ada@example.com'],
    subject: 'Hello',
    text: 'Hello',
    scheduled_at: first,
  });
  const reschedule =
    'mutation ($id: ID!, $input: RescheduleEmailInput!) { rescheduleEmail(id: $id, input: $input) { id } }';
  expect((await owner.graphql(reschedule, { id, input: { scheduledAt: second } })).body.errors).toBeUndefined();
  expect(
    (await owner.graphql('mutation ($id: ID!) { cancelEmail(id: $id) { id } }', { id })).body.errors,
  ).toBeUndefined();
  const { nodes } = await log(owner, { targetId: id });
  expect(nodes).toMatchObject([
    {
      action: 'cancelEmail',
      targetName: null,
      changes: expect.arrayContaining([{ field: 'state', label: 'State', before: 'planned', after: 'canceled' }]),
    },
    { action: 'rescheduleEmail', changes: [{ field: 'scheduledAt', before: first, after: second }] },
  ]);
});

test('of concurrent updates of an object, each entry begins with the values that another ended with', async () => {
  const api = await testApi();
  const users = await Promise.all([signedIn(api), signedIn(api, 'admin')]);
  const id = await create(api, '/v1/groups', { name: 'Name 0', emails: [(await api.contact('a@example.com')).email] });
  const names = Array.from({ length: 12 }, (_, at) => `Name ${at + 1}`);
  const rename = (name: string, at: number) =>
    users[at % 2]!.graphql(
      'mutation ($id: ID!, $name: String!) { updateGroup(id: $id, input: { name: $name }) { id } }',
      {
        id,
        name,
      },
    );
  const replies = await Promise.all(names.map(rename));
  expect(replies.map(({ body }) => body.errors)).toEqual(names.map(() => undefined));
  const { nodes } = await log(users[0]!, { targetId: id, action: 'updateGroup' });
  const next = new Map<unknown, unknown>(
    nodes.map(({ changes: [change] }: { changes: { before: unknown; after: unknown }[] }) => [
      change?.before,
      change?.after,
    ]),
  );
  const chain: unknown[] = ['Name 0'];
  while (next.has(chain.at(-1))) chain.push(next.get(chain.at(-1)));
  expect(chain.toSorted()).toEqual(['Name 0', ...names].toSorted());
  expect((await api.get(`/v1/groups/${id}`)).body.data.name).toBe(chain.at(-1));
});

test('an update and its entry are committed together', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const nameOf = async () =>
    (await pool.query<{ name: string }>('SELECT name FROM projects WHERE id = $1', [api.projectId])).rows[0]?.name;
  const before = await nameOf();
  const blocking = await pool.connect();
  try {
    await blocking.query('BEGIN');
    await blocking.query('LOCK TABLE audit_entries IN EXCLUSIVE MODE');
    const renaming = owner.graphql('mutation { renameProject(name: "Better name") { id } }');
    await eventually(async () => {
      const { rowCount } = await pool.query(
        "SELECT FROM pg_locks WHERE relation = 'audit_entries'::regclass AND NOT granted",
      );
      expect(rowCount).toBeGreaterThan(0);
    });
    expect(await nameOf()).toBe(before);
    await blocking.query('COMMIT');
    expect((await renaming).body.errors).toBeUndefined();
  } finally {
    blocking.release();
  }
  expect(await nameOf()).toBe('Better name');
  expect((await log(owner, { action: 'renameProject' })).nodes).toMatchObject([
    { changes: [{ field: 'name', before, after: 'Better name' }] },
  ]);
});

/** A call of every mutation that changes recorded values, and the field that it changes. */
const UPDATES: [string, string][] = [
  ['renameProject(name: "Better") { id }', 'name'],
  ['updateTracking(opens: false) { id }', 'trackOpens'],
  ['setMessageRetention(days: 40) { id }', 'messageRetentionDays'],
  ['setEventRetention(days: 40) { id }', 'eventRetentionDays'],
  ['setCustomEventRetention(days: 40) { id }', 'customEventRetentionDays'],
  ['setBrandColor(color: "#102030") { id }', 'brandColor'],
  ['setPostalAddress(address: "1 Main Street") { id }', 'postalAddress'],
  ['updateSendingPolicy(input: { ratePerSecond: 9 }) { ratePerSecond }', 'ratePerSecond'],
  ['renameMe(name: "Ada") { id }', 'name'],
  ['updateCampaign(id: $campaign, input: { subject: "Hi" }) { id }', 'subject'],
  [`scheduleCampaign(id: $campaign, input: { scheduledAt: "${inDays(30)}" }) { id }`, 'status'],
  ['unscheduleCampaign(id: $campaign) { id }', 'status'],
  ['updateAbTest(id: $abTest, input: { samplePercent: 30 }) { id }', 'samplePercent'],
  ['startAbTest(id: $abTest) { id }', 'status'],
  ['cancelAbTest(id: $abTest) { id }', 'status'],
  ['updateGroup(id: $group, input: { name: "Other" }) { id }', 'name'],
  ['setGroupPublicName(id: $group, publicName: "News") { id }', 'publicName'],
  ['updateSegment(id: $segment, input: { name: "Other" }) { id }', 'name'],
  ['updateCustomField(id: $customField, input: { label: "Town" }) { id }', 'label'],
  ['updateContact(id: $contact, input: { name: "Ada" }) { id }', 'name'],
  ['updateTemplate(id: $template, input: { name: "Other" }) { id }', 'name'],
  ['publishTemplate(id: $template) { id }', 'status'],
  ['setDomainWarmup(id: $domain, steps: [50, 100]) { id }', 'warmupSteps'],
  ['setTrackingDomain(id: $domain, host: "links.example.com") { id }', 'trackingDomain'],
  ['updateWebhookEndpoint(id: $endpoint, input: { description: "Shop" }) { id }', 'description'],
  ['disableWebhookEndpoint(id: $endpoint) { id }', 'enabled'],
  ['enableWebhookEndpoint(id: $endpoint) { id }', 'enabled'],
  ['updateMailProvider(id: $provider, input: { name: "Other" }) { id }', 'name'],
];

test('every update records its changes in its transaction', async () => {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  const owner = await signedIn(api);
  const contact = await create(api, '/v1/contacts', { email: 'ada@example.com' });
  const group = await create(api, '/v1/groups', { name: 'Readers', contact_ids: [contact] });
  const letter = { from_email: 'news@example.com', subject: 'News', html: '<p>News</p>', group_ids: [group] };
  const added = await owner.graphql(
    'mutation ($input: MailProviderInput!) { createMailProvider(input: $input) { id } }',
    {
      input: { name: 'Relay', smtp: { host: 'relay.example.com', port: 587, tls: 'starttls' } },
    },
  );
  const ids = {
    contact,
    group,
    campaign: await create(api, '/v1/campaigns', { name: 'News', ...letter }),
    abTest: await create(api, '/v1/ab-tests', {
      campaign_id: await create(api, '/v1/campaigns', { name: 'Tested', ...letter }),
      metric: 'clicks',
    }),
    segment: await create(api, '/v1/segments', { name: 'All', filter: { field: 'email', op: 'contains', value: '@' } }),
    customField: await create(api, '/v1/custom-fields', { key: 'city', label: 'City', type: 'text' }),
    template: await create(api, '/v1/templates', { name: 'Letter', body: '<p>Hello</p>' }),
    domain: (await owner.graphql('{ domains { nodes { id } } }')).body.data.domains.nodes[0].id,
    endpoint: await create(api, '/v1/webhooks', { url: 'https://example.com/hook', events: ['*'] }),
    provider: added.body.data.createMailProvider.id,
  };
  for (const [call, field] of UPDATES) {
    const used = Object.keys(ids).filter((name) => call.includes(`$${name}`));
    const declared = used.length === 0 ? '' : `(${used.map((name) => `$${name}: ID!`).join(', ')})`;
    const { body } = await owner.graphql(`mutation ${declared} { ${call} }`, ids);
    expect(body.errors, call).toBeUndefined();
    const [entry] = (await log(owner)).nodes;
    expect(entry.action, call).toBe(/^\w+/.exec(call)?.[0]);
    expect(
      entry.changes.map((change: { field: string }) => change.field),
      call,
    ).toContain(field);
  }
});

test('secrets are never recorded', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const secret = `s3cret${newId('req').slice(-12)}`;
  const id = await create(api, '/v1/webhooks', { url: `https://example.com/hook?token=${secret}`, events: ['*'] });
  const input = { url: `https://example.com/other?token=${secret}2` };
  await owner.graphql(
    'mutation ($id: ID!, $input: UpdateWebhookEndpointInput!) { updateWebhookEndpoint(id: $id, input: $input) { id } }',
    {
      id,
      input,
    },
  );
  await owner.graphql('mutation ($id: ID!) { webhookEndpointRotateSecret(id: $id) { secret } }', { id });
  const created = await owner.graphql('mutation { createApiKey(input: { name: "CI", scope: full }) { key } }');
  const provider = {
    name: 'Relay',
    smtp: { host: 'relay.example.com', port: 587, tls: 'starttls', username: 'postroom', password: secret },
  };
  const added = await owner.graphql(
    'mutation ($input: MailProviderInput!) { createMailProvider(input: $input) { id } }',
    {
      input: provider,
    },
  );
  expect(added.body.errors).toBeUndefined();
  const { rows } = await pool.query<{ text: string }>(
    `SELECT string_agg(e::text, ' ') AS text FROM audit_entries e WHERE project_id = $1`,
    [api.projectId],
  );
  for (const hidden of [secret, 'whsec_', created.body.data.createApiKey.key])
    expect(rows[0]?.text).not.toContain(hidden);
  expect((await log(owner, { action: 'updateWebhookEndpoint' })).nodes[0].changes).toEqual([
    {
      field: 'url',
      label: 'URL',
      before: 'https://example.com/hook?token=…',
      after: 'https://example.com/other?token=…',
    },
  ]);
});

test('the log is filtered by actor, action, kind of object, object and period', async () => {
  const api = await testApi();
  const [ada, grace] = [await signedIn(api), await signedIn(api, 'admin')];
  const campaign = await create(api, '/v1/campaigns', { name: 'News' });
  const group = await create(api, '/v1/groups', {
    name: 'Readers',
    emails: [(await api.contact('a@example.com')).email],
  });
  const rename = (user: SignedIn, name: string) =>
    user.graphql('mutation ($id: ID!, $name: String!) { updateCampaign(id: $id, input: { name: $name }) { id } }', {
      id: campaign,
      name,
    });
  await rename(ada, 'One');
  await eventually(async () => expect((await log(ada, { actorId: ada.id })).totalCount).toBe(1));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const between = new Date().toISOString();
  await rename(grace, 'Two');
  await grace.graphql('mutation ($id: ID!) { groupDelete(id: $id) { deletedId } }', { id: group });
  const actions = async (filter: object) =>
    (await log(ada, filter)).nodes.map(({ action }: { action: string }) => action);
  expect(await actions({ actorId: grace.id })).toEqual(['deleteGroup', 'updateCampaign']);
  expect(await actions({ action: 'updateCampaign' })).toEqual(['updateCampaign', 'updateCampaign']);
  expect(await actions({ targetKind: 'group' })).toEqual(['deleteGroup', 'createGroup']);
  expect(await actions({ targetId: group, actorId: grace.id })).toEqual(['deleteGroup']);
  expect(await actions({ since: between })).toEqual(['deleteGroup', 'updateCampaign']);
  expect(await actions({ until: between, targetKind: 'campaign' })).toEqual(['updateCampaign', 'createCampaign']);
  const unknown = { actorId: group, action: 'create_group', targetKind: 'spaceship', targetId: 'grp_1' };
  const { body } = await ada.graphql(LOG, { filter: unknown });
  expect(body.errors[0].extensions.details).toEqual([
    { field: 'actorId', message: 'must be the id of a user or an API key' },
    { field: 'action', message: 'is not an action' },
    { field: 'targetKind', message: 'is not a kind of object' },
    { field: 'targetId', message: 'must be the id of an object' },
  ]);
  expect(await actions({ action: 'createSegment', targetId: newId('seg') })).toEqual([]);
  const facets = await ada.graphql(
    '{ auditLogFacets { actors { actorId name } actions { action label } targetKinds } }',
  );
  expect(facets.body.data.auditLogFacets).toEqual({
    actors: expect.arrayContaining([
      { actorId: ada.id, name: 'A Person' },
      { actorId: grace.id, name: 'A Person' },
    ]),
    actions: [
      { action: 'createCampaign', label: 'Created campaign' },
      { action: 'createGroup', label: 'Created group' },
      { action: 'deleteGroup', label: 'Deleted group' },
      { action: 'updateCampaign', label: 'Changed campaign' },
    ],
    targetKinds: ['campaign', 'group'],
  });
});

test('the export has what passes the filters, with formulas guarded, for owners and admins', async () => {
  const api = await testApi();
  const [owner, member] = [await signedIn(api), await signedIn(api, 'member')];
  const id = newId('cmp');
  const entry = { projectId: api.projectId, actorId: owner.id, action: 'updateCampaign', targetId: id };
  await audit(pool, {
    ...entry,
    targetName: '=HYPERLINK("https://evil.example")',
    changes: [{ field: 'name', before: 'A', after: 'B' }],
  });
  await audit(pool, { ...entry, action: 'createGroup', targetId: newId('grp') });
  const download = (cookie: string, query = '') =>
    fetch(`${api.url}/app/downloads/${api.projectId}/audit-log/export${query}`, { headers: { cookie } });
  const file = await download(owner.cookie, '?target_kind=campaign');
  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const bytes = Buffer.from(await file.arrayBuffer());
  // Without it Excel would misread every name with an accent.
  expect(bytes.subarray(0, 3)).toEqual(Buffer.from('\uFEFF'));
  const [header, line, ...rest] = bytes.toString('utf8', 3).split('\r\n');
  expect(header).toBe('time,actor_id,actor,action,description,kind,object_id,object,changes');
  expect(line).toContain(`${owner.id},A Person,updateCampaign,Changed campaign,campaign,${id},"'=HYPERLINK(""https`);
  expect(line).toContain('""field"":""name""');
  expect(rest).toEqual(['']);
  expect((await (await download(owner.cookie)).text()).split('\r\n')).toHaveLength(4);
  const invalid = await download(owner.cookie, '?target_kind=spaceship');
  expect(await invalid.json()).toMatchObject({ error: { details: [{ field: 'target_kind' }] } });
  expect((await download(member.cookie)).status).toBe(403);
  expect((await download('')).status).toBe(401);
  expect((await api.get('/v1/audit-log/export')).status).toBe(404);
});

test('an erased person is in no entry, and the rest of the log stays', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const ada = await api.contact('ada.l@example.com', { name: 'Ada Lovelace' });
  const update = 'mutation ($id: ID!, $input: UpdateContactInput!) { updateContact(id: $id, input: $input) { id } }';
  await owner.graphql(update, { id: ada.id, input: { name: 'Ada King' } });
  await create(api, '/v1/campaigns', { name: 'For ada.l@example.com' });
  await owner.graphql('mutation ($id: ID!) { erasePerson(contactId: $id) { messages } }', { id: ada.id });
  const { rows } = await pool.query<{ text: string }>(
    `SELECT string_agg(e::text, ' ') AS text FROM audit_entries e WHERE project_id = $1`,
    [api.projectId],
  );
  for (const name of ['ada.l@', 'Lovelace', 'Ada King']) expect(rows[0]?.text).not.toContain(name);
  expect((await log(owner, { targetId: ada.id })).nodes).toMatchObject([{ action: 'updateContact', changes: [] }]);
});
