import { checkOptions, createImport } from '@postroom/imports';
import { notify } from '@postroom/notifications';
import { ID_PREFIXES, inTransaction, newId, pool } from '@postroom/platform';
import { type Api, signedIn, type SignedIn, takeSystemMail, testApi } from '@postroom/testkit';
import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../src/schema.ts';

const objects = Object.values(schema.getTypeMap()).filter(
  (type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'),
);
const node = schema.getType('Node');
const implementsNode = (type: GraphQLObjectType) => isInterfaceType(node) && type.getInterfaces().includes(node);
const isCurrent = ({ deprecationReason }: GraphQLField<unknown, unknown>) => deprecationReason == null;

test('every type with an id is a Node', () => {
  const others = objects.filter(({ name }) => name !== 'Node');
  const withId = others.filter((type) => {
    const { id } = type.getFields();
    return id !== undefined && isCurrent(id);
  });
  expect(withId.filter((type) => !implementsNode(type)).map(({ name }) => name)).toEqual([]);
});

test('only connections are called Connection, and each has edges, nodes, pageInfo and totalCount', () => {
  for (const type of objects.filter(({ name }) => name.endsWith('Connection'))) {
    expect([type.name, Object.keys(type.getFields()).toSorted()]).toEqual([
      type.name,
      ['edges', 'nodes', 'pageInfo', 'totalCount'],
    ]);
  }
});

test('a mutation returns a node or a payload; one that returns a scalar is deprecated', () => {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {}).filter(isCurrent);
  expect(mutations.filter(({ type }) => isScalarType(getNamedType(type))).map(({ name }) => name)).toEqual([]);
});

test('the payload of a mutation whose name starts with a noun is named after it', () => {
  const nounFirst =
    /^(apiKey|campaign|contact|customField|domain|group|invitation|mailProvider|mailbox|member|segment|session|suppression|template|webhook)[A-Z]/;
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {}).filter(({ name }) =>
    nounFirst.test(name),
  );
  expect(mutations.length).toBeGreaterThan(15);
  for (const { name, type } of mutations) {
    expect(getNamedType(type).name).toBe(`${name.charAt(0).toUpperCase()}${name.slice(1)}Payload`);
  }
});

test('lists that may be long are connections: plain lists have no page arguments', () => {
  const lists = objects.flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => isListType(getNullableType(field.type)))
      .filter((field) => field.args.some(({ name }) => name === 'first' || name === 'after'))
      .map((field) => `${type.name}.${field.name}`),
  );
  expect(lists).toEqual([]);
});

describe('node and nodes', () => {
  /** Prefixes that are not in the schema, and that of saved views, which belong to one user. */
  const WITHOUT_NODE = ['req', 'mai', 'cvw'];
  const prefixes = Object.keys(ID_PREFIXES).filter((prefix) => !WITHOUT_NODE.includes(prefix));
  const query = 'query ($id: ID!) { node(id: $id) { __typename id } }';
  /** Only project managers may read these, here as in their own queries. */
  const MANAGED = ['key', 'inv', 'aud', 'prv', 'ntf'];

  let own: Filled;
  let other: Filled;
  beforeAll(async () => {
    [own, other] = [await fill(), await fill()];
  });

  test.each(prefixes)('%s_: an own row is a node; another project’s and a malformed id are null', async (prefix) => {
    const { owner, ids } = own;
    const { body } = await owner.graphql(query, { id: ids[prefix] });
    expect(body.errors).toBeUndefined();
    expect(body.data.node).toMatchObject({ id: ids[prefix] });
    for (const id of [other.ids[prefix], newId(prefix as 'grp'), `${prefix}_nonsense`, `${prefix}_`, prefix]) {
      expect((await owner.graphql(query, { id })).body).toEqual({ data: { node: null } });
    }
  });

  test.each(prefixes)('%s_: a key gets the same as from other queries', async (prefix) => {
    const { api, ids } = own;
    const { body } = await api.graphql(query, { id: ids[prefix] });
    const shown = body.errors?.[0]?.extensions.code ?? body.data.node?.id ?? null;
    expect(shown).toBe(MANAGED.includes(prefix) ? 'forbidden' : prefix === 'ses' ? null : ids[prefix]);
    expect((await api.graphql(query, { id: other.ids[prefix] })).body.data?.node ?? null).toBeNull();
  });

  test('every Node type is found by its prefix', async () => {
    const found = await Promise.all(
      prefixes.map(
        async (prefix) => (await own.owner.graphql(query, { id: own.ids[prefix] })).body.data.node.__typename,
      ),
    );
    expect(found.toSorted()).toEqual(
      objects
        .filter(implementsNode)
        .map(({ name }) => name)
        .toSorted(),
    );
  });

  test('nodes keeps the order of the ids, and returns null for absent ones', async () => {
    const { owner, ids } = own;
    const asked = [ids.grp, newId('grp'), ids.ctc, other.ids.ctc, 'nonsense', ids.grp];
    const { body } = await owner.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: asked });
    expect(body.data.nodes).toEqual([{ id: ids.grp }, null, { id: ids.ctc }, null, null, { id: ids.grp }]);
  });

  test('in nodes, only rows that a key may not read are errors', async () => {
    const { api, ids } = own;
    const asked = [ids.ctc, ids.key];
    const { body } = await api.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: asked });
    expect(body.data.nodes).toEqual([{ id: ids.ctc }, null]);
    expect(body.errors).toMatchObject([{ path: ['nodes', 1], extensions: { code: 'forbidden' } }]);
  });

  test('more than 100 ids are rejected', async () => {
    const ids = Array.from({ length: 101 }, () => newId('ctc'));
    const { body } = await own.api.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(body.errors[0].extensions.details).toMatchObject([{ field: 'ids' }]);
  });
});

test('a fragment on a renamed type may use its old name', async () => {
  const api = await testApi();
  const connect = `mutation ($input: ConnectMailboxInput!) { connectMailbox(input: $input) { ...Consent } }`;
  const input = { email: 'a@example.com', provider: 'gmail', signIn: 'password', password: 'x' };
  const run = (type: string) => api.graphql(`${connect} fragment Consent on ${type} { authorizationUrl }`, { input });
  // Only users may connect a mailbox: a key is expected to be rejected.
  for (const type of ['MailboxConsent', 'MailboxConnection']) {
    expect((await run(type)).body.errors).toMatchObject([{ extensions: { code: 'forbidden' } }]);
  }
  expect((await run('NeverThere')).body.errors[0].message).toContain('Unknown type');
});

describe('replacements for mutations that returned a scalar', () => {
  test('deletes the same way, returns the id, and is the same action in the audit log', async () => {
    const api = await testApi();
    const owner = await signedIn(api);
    const ada = await api.contact('ada@example.com');
    const group = async (name: string) =>
      (await api.post('/v1/groups', { name, contact_ids: [ada.id] })).body.data.id as string;
    const [first, second] = [await group('One'), await group('Two')];
    const deleted = await owner.graphql('mutation ($id: ID!) { groupDelete(id: $id) { deletedId } }', { id: first });
    expect(deleted.body.data).toEqual({ groupDelete: { deletedId: first } });
    const former = await owner.graphql('mutation ($id: ID!) { deleteGroup(id: $id) }', { id: second });
    expect(former.body.data).toEqual({ deleteGroup: true });
    const log = await owner.graphql('{ auditLog(first: 2) { nodes { action targetId } } }');
    expect(log.body.data.auditLog.nodes).toEqual([
      { action: 'deleteGroup', targetId: second },
      { action: 'deleteGroup', targetId: first },
    ]);
  });

  test('returns the revoked key, and the member whose role changed', async () => {
    const api = await testApi();
    const owner = await signedIn(api);
    const member = await signedIn(api, 'member');
    const created = await owner.graphql(
      'mutation { createApiKey(input: { name: "CI", scope: sending }) { apiKey { id revokedAt } } }',
    );
    const { id } = created.body.data.createApiKey.apiKey;
    const revoked = await owner.graphql('mutation ($id: ID!) { apiKeyRevoke(id: $id) { apiKey { id revokedAt } } }', {
      id,
    });
    expect(revoked.body.data.apiKeyRevoke.apiKey).toEqual({ id, revokedAt: expect.any(String) });
    const changed = await owner.graphql(
      'mutation ($userId: ID!) { memberChangeRole(userId: $userId, role: viewer) { member { role user { id } } } }',
      { userId: member.id },
    );
    expect(changed.body.data.memberChangeRole.member).toEqual({ role: 'viewer', user: { id: member.id } });
    const removed = await owner.graphql(
      'mutation ($userId: ID!) { memberRemove(userId: $userId) { userId members { user { id } } } }',
      { userId: member.id },
    );
    expect(removed.body.data.memberRemove).toEqual({ userId: member.id, members: [{ user: { id: owner.id } }] });
  });
});

describe('totals', () => {
  test('a list returns its total on request, on every page', async () => {
    const api = await testApi();
    for (const name of ['ada', 'bob', 'eve']) await api.contact(`${name}@example.com`);
    expect((await api.get('/v1/contacts')).body).not.toHaveProperty('total');
    expect((await api.get('/v1/contacts?total=false')).body).not.toHaveProperty('total');
    const first = (await api.get('/v1/contacts?total=true&limit=1')).body;
    expect(first).toMatchObject({ total: 3, has_more: true });
    expect((await api.get(`/v1/contacts?total=true&limit=1&cursor=${first.next_cursor}`)).body.total).toBe(3);
    expect((await api.get('/v1/contacts?total=true&search=ada')).body.total).toBe(1);
    expect((await api.get('/v1/contacts?total=maybe')).body.error).toMatchObject({ details: [{ field: 'total' }] });
  });

  test('the largest page may request its total', async () => {
    const api = await testApi();
    const { status, body } = await api.get('/v1/contacts?limit=1000&total=true');
    expect([status, body.total]).toEqual([200, 0]);
  });

  test('every list of /v1 has a total', async () => {
    const { api, ids } = await fill();
    const lists = [
      'contacts',
      'groups',
      'segments',
      `segments/${ids.seg}/contacts`,
      'custom-fields',
      'events',
      'event-definitions',
      'journeys',
      `journeys/${ids.jrn}/enrollments`,
      'forms',
      `forms/${ids.frm}/submissions`,
      'suppressions',
      'templates',
      `templates/${ids.tpl}/versions`,
      'campaigns',
      'ab-tests',
      `campaigns/${ids.cmp}/recipients`,
      'emails',
      'webhooks',
      `webhooks/${ids.whe}/deliveries`,
      'deliveries',
      'imports',
      `projects/${api.projectId}/domains`,
      `contacts/${ids.ctc}/groups`,
    ];
    const replies = await Promise.all(lists.map((list) => api.get(`/v1/${list}?total=true`)));
    for (const [index, { body }] of replies.entries()) {
      expect([lists[index], body.total]).toEqual([lists[index], body.data?.length]);
    }
  });
});

interface Filled {
  api: Api;
  owner: SignedIn;
  /** One id per prefix. */
  ids: Record<string, string>;
}

/** A project with a row of every type. */
async function fill(): Promise<Filled> {
  await using _mail = await takeSystemMail();
  const api = await testApi();
  const owner = await signedIn(api);
  const { projectId } = api;
  const create = async (path: string, body: object): Promise<string> => {
    const reply = await api.post(path, body);
    if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`);
    return reply.body.data.id;
  };
  const ctc = (await api.contact('ada@example.com')).id;
  const ids: Record<string, string> = {
    prj: projectId,
    usr: owner.id,
    ctc,
    grp: await create('/v1/groups', { name: 'Beta', contact_ids: [ctc] }),
    seg: await create('/v1/segments', { name: 'All', filter: { field: 'email', op: 'contains', value: '@' } }),
    fld: await create('/v1/custom-fields', { key: 'plan', label: 'Plan', type: 'text' }),
    sup: await create('/v1/suppressions', { email: 'nobody@example.com' }),
    tpl: await create('/v1/templates', { name: 'Hello', body: 'Hello' }),
    cmp: await create('/v1/campaigns', { name: 'News' }),
    abt: await create('/v1/ab-tests', { campaign_id: await create('/v1/campaigns', { name: 'Test' }) }),
    whe: await create('/v1/webhooks', { url: 'https://example.com/hook', events: ['*'] }),
    cev: (await api.post('/v1/events', { name: 'order placed', contact_id: ctc })).body.data.results[0].id,
    ced: (await api.get('/v1/event-definitions')).body.data[0].id,
    blk: await create('/v1/bulk-operations', { action: 'unsubscribe', filter: { search: 'ada' } }),
    jrn: await create('/v1/journeys', { name: 'Welcome' }),
    frm: await create('/v1/forms', { name: 'Newsletter', double_opt_in: false }),
    fsb: newId('fsb' as 'eml'),
    enr: newId('enr' as 'eml'),
    bkt: newId('bkt' as 'eml'),
    bkc: newId('bkc' as 'eml'),
    imp: (await createImport(projectId, await checkOptions(projectId, {}))).id,
    eml: newId('eml'),
    dom: newId('dom'),
    mbx: newId('mbx'),
    prv: newId('prv'),
    evt: newId('evt'),
    dlv: newId('dlv'),
  };
  const insert = (text: string, ...values: unknown[]) => pool.query(text, values);
  await insert(
    `INSERT INTO backtests (id, project_id, days, until_at, candidate, assumptions, actor_id, status)
     VALUES ($1, $2, 7, now(), '{}', '{}', $3, 'completed')`,
    ids.bkt,
    projectId,
    owner.id,
  );
  await insert(
    `INSERT INTO backtest_contacts (id, backtest_id, contact_id, difference, candidate, baseline, marks)
     VALUES ($1, $2, $3, 'none', '[]', '[]', '{}')`,
    ids.bkc,
    ids.bkt,
    ctc,
  );
  await insert(
    `INSERT INTO messages (id, project_id, email, state) VALUES ($1, $2, 'ada@example.com', 'failed')`,
    ids.eml,
    projectId,
  );
  await insert(
    `INSERT INTO domains (id, project_id, domain, updated_at) VALUES ($1, $2, 'example.com', now())`,
    ids.dom,
    projectId,
  );
  await insert(
    `INSERT INTO mailbox_accounts (id, project_id, email, email_key, provider, host, port, implicit_tls, username, sign_in,
       credentials, per_minute, daily_cap)
     VALUES ($1, $2, 'a@example.com', 'a@example.com', 'other', 'mail.example.com', 465, true, 'a', 'password', '', 1, 1)`,
    ids.mbx,
    projectId,
  );
  await insert(
    `INSERT INTO mail_providers (id, project_id, name, kind, settings, token) VALUES ($1, $2, 'Relay', 'smtp', '{}', $1)`,
    ids.prv,
    projectId,
  );
  await insert(
    `INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'some.later_type', '{}')`,
    ids.evt,
    projectId,
  );
  await insert(
    `INSERT INTO enrollments (id, project_id, journey_id, contact_id, version, step_id) VALUES ($1, $2, $3, $4, 1, 'wait')`,
    ids.enr,
    projectId,
    ids.jrn,
    ctc,
  );
  await insert(
    `INSERT INTO form_submissions (id, project_id, form_id, email, email_key, submitted_at, expires_at)
     VALUES ($1, $2, $3, 'ada@example.com', 'ada@example.com', ARRAY[now()], now() + interval '1 day')`,
    ids.fsb,
    projectId,
    ids.frm,
  );
  // Closed, so that no worker attempts it.
  await insert(
    `INSERT INTO deliveries (id, project_id, endpoint_id, event_id, state, closed_at) VALUES ($1, $2, $3, $4, 'failed', now())`,
    ids.dlv,
    projectId,
    ids.whe,
    ids.evt,
  );
  const one = async (document: string, select: (data: never) => string) => {
    const { body } = await owner.graphql(document);
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
    return select(body.data as never);
  };
  type Data = Record<string, { id: string }[] & { nodes: { id: string }[]; apiKey: { id: string } }>;
  ids.key = await one('mutation { createApiKey(input: { name: "K", scope: full }) { apiKey { id } } }', (data: Data) =>
    String(data.createApiKey?.apiKey.id),
  );
  await one(
    'mutation { invite(input: { email: "invited@example.com", role: viewer }) { invitation { id } } }',
    () => '',
  );
  ids.inv = await one('{ invitations { id } }', (data: Data) => String(data.invitations?.[0]?.id));
  ids.ses = await one('{ mySessions { id } }', (data: Data) => String(data.mySessions?.[0]?.id));
  ids.aud = await one('{ auditLog(first: 1) { nodes { id } } }', (data: Data) => String(data.auditLog?.nodes[0]?.id));
  await inTransaction((tx) =>
    notify(tx, projectId, {
      kind: 'campaign_paused',
      subjectId: String(ids.cmp),
      title: 'The campaign "News" was paused',
      detail: 'Too many bounces.',
      advice: 'Resume it:',
    }),
  );
  ids.ntf = await one('{ notifications { nodes { id } } }', (data: Data) => String(data.notifications?.nodes[0]?.id));
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM template_versions WHERE project_id = $1', [
    projectId,
  ]);
  ids.tpv = String(rows[0]?.id);
  return { api, owner, ids };
}
