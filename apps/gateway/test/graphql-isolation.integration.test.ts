import { checkOptions, createImport } from '@postroom/imports';
import { notify } from '@postroom/notifications';
import { inTransaction, newId, pool } from '@postroom/platform';
import { type Api, type SignedIn, signedIn, testApi } from '@postroom/testkit';
import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { schema } from '../src/schema.ts';

/** In the names of the other project's rows: if a response contains it, something leaked. */
const MARK = 'belongs-to-the-other-project';

let mine: Api;
let theirs: Api;
let owner: SignedIn;
/** Ids of every type from the other project. */
let foreignIds: string[];

beforeAll(async () => {
  [mine, theirs] = [await testApi(), await testApi()];
  owner = await signedIn(mine, 'owner');
  const ada = await theirs.contact(`${MARK}@example.com`, { name: MARK });
  const create = async (path: string, body: object): Promise<string> => {
    const reply = await theirs.post(path, body);
    if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`);
    return reply.body.data.id;
  };
  foreignIds = [
    ada.id,
    await create('/v1/groups', { name: MARK, contact_ids: [ada.id] }),
    await create('/v1/templates', { name: MARK, body: MARK }),
    await create('/v1/campaigns', { name: MARK }),
    await create('/v1/ab-tests', { campaign_id: await create('/v1/campaigns', { name: MARK }) }),
    await create('/v1/webhooks', { url: `https://example.com/${MARK}`, events: ['*'], description: MARK }),
    await create('/v1/segments', { name: MARK, filter: { field: 'email', op: 'contains', value: MARK } }),
    await create('/v1/custom-fields', { key: 'theirs', label: MARK, type: 'text' }),
    await create('/v1/suppressions', { email: `${MARK}-2@example.com` }),
    (await createImport(theirs.projectId, await checkOptions(theirs.projectId, { fileName: MARK }))).id,
    await create('/v1/bulk-operations', { action: 'add_to_group', group_name: MARK, filter: {} }),
  ];
  const theirOwner = await signedIn(theirs, 'owner');
  const created = await theirOwner.graphql(`mutation {
    createContactView(input: { name: "${MARK}", search: {} }) { viewId }
    createApiKey(input: { name: "${MARK}", scope: full }) { apiKey { id } }
  }`);
  foreignIds.push(created.body.data.createContactView.viewId, created.body.data.createApiKey.apiKey.id);
  await inTransaction(async (tx) => {
    await notify(tx, theirs.projectId, {
      kind: 'campaign_paused',
      subjectId: newId('cmp'),
      title: MARK,
      detail: MARK,
      advice: MARK,
    });
    // A worker of other tests would send their mail meanwhile, and note it in these rows.
    await tx.query('UPDATE notification_recipients SET mail_closed_at = now() WHERE project_id = $1', [
      theirs.projectId,
    ]);
  });
  await pool.query(
    `INSERT INTO mail_providers (id, project_id, name, kind, settings, token) VALUES ($1, $2, $3, 'smtp', '{}', $1)`,
    [newId('prv'), theirs.projectId, MARK],
  );
  await pool.query(
    `INSERT INTO mailbox_accounts (id, project_id, email, email_key, provider, host, port, implicit_tls, username, sign_in,
       credentials, per_minute, daily_cap)
     VALUES ($1, $2, $3, $3, 'other', 'mail.example.com', 465, true, $3, 'password', '', 1, 1)`,
    [newId('mbx'), theirs.projectId, `${MARK}@example.com`],
  );
  for (const table of [
    'deliveries',
    'events',
    'messages',
    'domains',
    'members',
    'invitations',
    'template_versions',
    'mail_providers',
    'mailbox_accounts',
    'notifications',
    'audit_entries',
  ]) {
    const column = table === 'members' ? 'user_id' : 'id';
    const { rows } = await pool.query<{ id: string }>(
      `SELECT ${column} AS id FROM ${table} WHERE project_id = $1 LIMIT 1`,
      [theirs.projectId],
    );
    foreignIds.push(...rows.map((row) => row.id));
  }
});

const roots = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
  Object.values(type?.getFields() ?? {}).map(
    (field) => [`${type?.name}.${field.name}`, type?.name.toLowerCase() ?? '', field] as const,
  ),
);
const takesId = roots.filter(([, , field]) => field.args.some((arg) => mentionsId(arg.type, arg.name)));
const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});

/** Mutations of the caller's own account, which need no role in the project. */
const OF_ONESELF = `acceptInvitation emailChangeConfirm emailChangeRequest invitationAccept renameMe revokeSession sessionRevoke
  updateNotificationSettings`;

/** Mutations for owners and admins only. A new mutation belongs on this list, or any member may call it. */
const FOR_MANAGERS = `
  addDomain apiKeyRevoke authorizeMailbox changeRole checkDomain connectMailbox createApiKey createMailProvider
  createProject deleteMailProvider disableWebhookEndpoint disconnectMailbox domainRemove enableWebhookEndpoint
  erasePerson invitationWithdraw invite mailProviderDelete mailboxDisconnect markNotificationsRead
  memberChangeRole memberRemove projectDelete publishDomainRecords removeApiKeyFromProject removeDomain removeMember
  renameProject revealJourneySigningSecret revealWebhookSecret revokeApiKey rotateJourneySigningSecret rotateWebhookSecret setBrandColor setCustomEventRetention setDomainWarmup
  setEventRetention setMessageRetention setPostalAddress setProjectLogo setTrackingDomain testMailProvider
  testMailbox updateMailProvider updateMailbox updateSendingPolicy updateTracking webhookEndpointRevealSecret
  webhookEndpointRotateSecret withdrawInvitation`;

test('the traversal finds the fields that take an id', () => {
  expect(takesId.length).toBeGreaterThan(20);
});

test.each(takesId)('%s shows and changes nothing of another project, for any id', async (_name, kind, field) => {
  const before = await snapshot();
  for (const id of foreignIds) {
    const { query, variables } = operation(kind, field, id);
    for (const reply of [await mine.graphql(query, variables), await owner.graphql(query, variables)]) {
      const shown = JSON.stringify(reply.body.data ?? null);
      expect(shown, query).not.toContain(MARK);
      for (const error of reply.body.errors ?? [])
        expect(error.extensions?.code, JSON.stringify(error)).not.toBe('internal_error');
    }
  }
  expect(await snapshot()).toEqual(before);
});

test.each(roots)(
  '%s is closed to a request without a key, and to a sending key unless it sends one email',
  async (_name, kind, field) => {
    if (['acceptInvitation', 'invitationAccept', 'invitationPreview'].includes(field.name)) return;
    const { query, variables } = operation(kind, field, 'nothing');
    const { key } = await sendingKey();
    const nobody = await mine.graphql(query, variables, { key: null });
    expect(nobody.body.errors?.[0]?.extensions?.code, JSON.stringify(nobody.body)).toBe('unauthorized');
    const sending = await mine.graphql(query, variables, { key });
    const code = sending.body.errors?.[0]?.extensions?.code;
    const sends = field.name === 'sendEmail';
    expect(['insufficient_scope', 'forbidden'].includes(code), JSON.stringify(sending.body)).toBe(!sends);
  },
);

/** The mutations that a user with this role is not allowed to call. */
async function forbiddenTo(role: 'viewer' | 'member'): Promise<string[]> {
  const user = await signedIn(await testApi(), role);
  const forbidden: string[] = [];
  for (const field of mutations) {
    const { query, variables } = operation('mutation', field, newId('grp'));
    const { body } = await user.graphql(query, variables);
    if (body.errors?.[0]?.extensions?.code === 'forbidden') forbidden.push(field.name);
  }
  return forbidden.toSorted();
}

const words = (text: string) => text.trim().split(/\s+/);

test('a viewer may change nothing but their own account', async () => {
  const forbidden = new Set(await forbiddenTo('viewer'));
  const allowed = mutations.map(({ name }) => name).filter((name) => !forbidden.has(name));
  expect(allowed.toSorted()).toEqual(words(OF_ONESELF));
});

test('a member may call every mutation but those of managers', async () => {
  expect(await forbiddenTo('member')).toEqual(words(FOR_MANAGERS));
});

let sending: Promise<{ key: string }> | undefined;
const sendingKey = () => (sending ??= mine.newKey('sending'));

/** Every row of the other project, except for what reads update. */
async function snapshot(): Promise<unknown> {
  const tables = [
    'contacts',
    'groups',
    'templates',
    'template_versions',
    'campaigns',
    'ab_tests',
    'webhook_endpoints',
    'segments',
    'custom_fields',
    'suppressions',
    'domains',
    'messages',
    'members',
    'mail_providers',
    'mailbox_accounts',
    'contact_views',
    'notification_recipients',
  ];
  const rows = await Promise.all(
    tables.map(
      async (table) =>
        (await pool.query(`SELECT * FROM ${table} WHERE project_id = $1 ORDER BY 1`, [theirs.projectId])).rows,
    ),
  );
  const members = await pool.query(
    'SELECT m.* FROM group_members m JOIN groups g ON g.id = m.group_id WHERE g.project_id = $1',
    [theirs.projectId],
  );
  return [...rows, members.rows];
}

function mentionsId(type: GraphQLInputType, name: string): boolean {
  const named = getNamedType(type);
  if (isInputObjectType(named))
    return Object.values(named.getFields()).some((field) => mentionsId(field.type, field.name));
  return named.name === 'ID' || /(^id|Ids?)$/.test(name);
}

/** An operation of a root field that selects all of its result, and values for its arguments; ids get the given one. */
function operation(kind: string, field: GraphQLField<unknown, unknown>, id: string) {
  const query = `${kind} (${field.args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ')}) {
    ${field.name}(${field.args.map((arg) => `${arg.name}: $${arg.name}`).join(', ')}) ${selection(field)}
  }`.replaceAll('()', '');
  const variables = Object.fromEntries(field.args.map((arg) => [arg.name, sample(arg.type, arg.name, id)]));
  return { query, variables };
}

/** A value of the type; ids get the given one. */
function sample(type: GraphQLInputType, name: string, id: string): unknown {
  const bare = getNullableType(type);
  if (isListType(bare)) return [sample(bare.ofType, name.replace(/s$/, ''), id)];
  if (isInputObjectType(bare)) {
    const fields = Object.values(bare.getFields()).filter(
      (field) => isNonNullType(field.type) || mentionsId(field.type, field.name),
    );
    return Object.fromEntries(fields.map((field) => [field.name, sample(field.type, field.name, id)]));
  }
  if (isEnumType(bare)) return bare.getValues()[0]?.name;
  const named = getNamedType(type).name;
  if (named === 'ID' || /(^id|Id)$/.test(name)) return id;
  if (named === 'Int') return 1;
  if (named === 'Float') return 1;
  if (named === 'Boolean') return true;
  if (named === 'DateTime') return '2030-01-01T00:00:00Z';
  if (named === 'JSON') return {};
  if (/email/i.test(name)) return 'sample@example.com';
  if (/url/i.test(name)) return 'https://example.com/sample';
  return 'sample';
}

/** Every scalar of the result, two levels deep, that needs no argument. */
function selection(field: GraphQLField<unknown, unknown>, depth = 3): string {
  const type = getNamedType(field.type);
  if (isLeafType(type)) return '';
  if (!isObjectType(type)) return '{ __typename id }';
  const members = Object.values(type.getFields())
    .filter((member) => !member.args.some((arg) => isNonNullType(arg.type)))
    .filter((member) => isLeafType(getNamedType(member.type)) || depth > 1)
    .map((member) => `${member.name} ${selection(member, depth - 1)}`);
  return `{ __typename ${members.join(' ')} }`;
}
