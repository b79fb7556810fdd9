import { AsyncLocalStorage } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { notify } from '@postroom/notifications';
import { builder, type Context, db, inTransaction, newId, pool } from '@postroom/platform';
import { type Api, observeStatements, signedIn, takeSystemMail, testApi } from '@postroom/testkit';
import {
  getNamedType,
  getNullableType,
  graphql,
  type GraphQLNamedOutputType,
  isCompositeType,
  isListType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../src/schema.ts';

/** Deep queries that together cover every list, and every related row, on rows of lists. */
const QUERIES: Record<string, string> = {
  'recipients → contact → groups, segments, activity': `query ($campaign: ID!) {
    campaignRecipients(id: $campaign) { nodes { email state contact {
      email groups { name } segments { name } activity { type campaignName }
    } } }
  }`,
  'contacts → groups, segments, activity': `{
    contacts { nodes { email customFields groups { id name } segments { id name } a: activity { type } b: activity(messages: 5) { type } } }
  }`,
  'groups → contacts':
    '{ groups { edges { node { name contactIds contactCount memberCount leftCount contacts { email } } } } }',
  'segments → their number of contacts':
    '{ segments(first: 30) { nodes { name editedByName contactCount problems { field message } sizes { size } } } }',
  'segments → contacts → groups, segments': `{
    segments(first: 30) { nodes { name contacts(first: 5) { totalCount edges { cursor } nodes { email groups { name } segments { name } } pageInfo { hasNextPage } } } }
  }`,
  'nodes of several types': `query ($ids: [ID!]!) {
    nodes(ids: $ids) { id ... on Contact { groups { name } } ... on Group { contacts { email } } ... on Segment { contactCount } }
  }`,
  // Rows with long texts are read ten at a time, of which one tells whether there are more.
  campaigns:
    '{ campaigns(first: 9) { totalCount nodes { name editedByName groupIds segmentIds deferred { nextRetryAt } awaitingLocalTime { nextAt } progress { planned } engagement { sent } } } }',
  'A/B tests → variants, final campaign': `{
    abTests(first: 9) { nodes { status leaderId variants { label rate campaign { name editedByName engagement { sent } } } finalCampaign { name } } }
  }`,
  'emails → recipients, attachments, events': `{
    emails { nodes { subject from to html headers recipients { email status } attachments { filename } events { type } } }
  }`,
  'endpoints → recent, health':
    '{ webhookEndpoints { nodes { url recent { acknowledged medianMs } health { state hours { at failed } } } } }',
  'deliveries → endpoint, event, attempts': `{
    webhookDeliveries { nodes { eventType body endpoint { url recent { queued } } event { data } attempts { number status } } }
  }`,
  'domains → records, lifecycle': `{
    domains { nodes { domain records { name found } recommendations { title record { name } } lifecycle { type } dnsProvider { name } trackingRecord { name found } warmup { step todaySent } workflowUrl } }
  }`,
  'people → user; keys → projects; audit log → actors': `{
    members { role user { email } } invitations { email } apiKeys { name projectIds } auditLog { nodes { action actorName targetName changes { field } } }
    auditLogFacets { actors { name } actions { label } targetKinds }
    myProjects { role project { name } } mySessions { id } notifications { totalCount nodes { title readAt } }
  }`,
  'contacts → events → contact': `{
    contacts { nodes { email events(latest: 2) { name contact { email } } } }
    customEvents { nodes { name contact { email } } } customEventDefinitions { nodes { name eventCount days { day } properties { name } } }
  }`,
  'templates, suppressions, custom fields, imports': `{
    templates { nodes { name editedByName draft { subject } scheduledCampaigns { name } } } suppressions { nodes { email } } customFields { nodes { key } }
    imports { nodes { fileName columns { name } counts { rows } causes { message } errors(first: 2) { totalCount edges { cursor } nodes { line message } pageInfo { endCursor } } } }
  }`,
  'journeys → problems, contacts in progress': `{
    journeys(first: 9) { nodes { name definition editedByName problems { message } inProgress { stepId contactCount } runs { active } passages { stepId runCount } } }
  }`,
  'enrollments → contact, steps': `query ($journey: ID!) {
    enrollments(journeyId: $journey) { nodes { stepId contact { email } steps { stepId outcome } } }
    journeyVersions(journeyId: $journey) { nodes { number definition publishedByName } }
  }`,
  'backtests → sides, differences': `{
    backtests { nodes { status assumptions { opened } candidate { runs steps { stepId outcomes { outcome } } sent { day } } baseline { runs } differences { contacts } } }
  }`,
  'contacts of a backtest → contact, runs': `query ($backtest: ID!) {
    backtestContacts(id: $backtest) { nodes { contact { email } candidate { steps { outcome } } baseline { endReason } } }
  }`,
  'forms → fields, submissions': `{
    forms { nodes { name url editedByName fields { key } embedHtml submissionCounts { pending confirmed } } }
  }`,
  'submissions of a form → contact': `query ($form: ID!) {
    formSubmissions(formId: $form) { nodes { email status contact { email } } }
  }`,
  'mailbox accounts, mail providers': `{
    mailboxAccounts { email sentToday } mailProviders { name status }
  }`,
};

/** The statements of the current request, without background work of the same process. */
const current = new AsyncLocalStorage<string[]>();
const COUNTED = 'x-counted-request';
let counted: string[] = [];
let stopObserving = () => {};

let few: Filled;
let many: Filled;

function enter(message: unknown): void {
  if ((message as { request: IncomingMessage }).request.headers[COUNTED] !== undefined) current.enterWith(counted);
}

beforeAll(async () => {
  [few, many] = [await fill(3), await fill(30)];
  diagnostics.subscribe('http.server.request.start', enter);
  stopObserving = observeStatements(({ text }) => {
    // A process asks for its share of a rate, and who else makes requests, by the clock.
    if (!/\b(INTO|FROM) shared_rates\b/.test(text)) current.getStore()?.push(text);
  });
}, 120_000);
afterAll(() => {
  diagnostics.unsubscribe('http.server.request.start', enter);
  stopObserving();
});

test.each(Object.entries(QUERIES))(
  '%s: the same number of statements for thirty rows as for three',
  async (_name, document) => {
    const [forFew, forMany] = [await count(few, document), await count(many, document)];
    expect(forFew.length).toBeGreaterThan(0);
    expect(forMany).toEqual(forFew);
  },
);

test('the queries cover every list and every related row on rows of lists', () => {
  const asked = new Set<string>();
  for (const document of Object.values(QUERIES)) {
    const types = new TypeInfo(schema);
    const note = {
      Field: () => void asked.add(`${types.getParentType()?.name}.${types.getFieldDef()?.name}`),
    };
    visit(parse(document), visitWithTypeInfo(types, note));
  }
  expect(inLists().filter((field) => !asked.has(field))).toEqual([]);
});

/** The fields with related rows on rows of lists, such as `Group.contacts`. */
function inLists(): string[] {
  const found = new Set<string>();
  const walk = (type: GraphQLNamedOutputType, isInList: boolean, seen: ReadonlySet<string>) => {
    if (!isObjectType(type)) return;
    // Connections and edges only lead to the rows.
    const isRow = !/(Connection|Edge)$/.test(type.name);
    for (const field of Object.values(type.getFields())) {
      const inner = getNamedType(field.type);
      if (!isCompositeType(inner) || seen.has(`${type.name}.${field.name}`)) continue;
      const list = isListType(getNullableType(field.type)) || inner.name.endsWith('Connection');
      if (isInList && isRow) found.add(`${type.name}.${field.name}`);
      walk(inner, isInList || list, new Set([...seen, `${type.name}.${field.name}`]));
    }
  };
  walk(schema.getQueryType() as GraphQLNamedOutputType, false, new Set());
  return [...found];
}

test('in tests, a field that loads rows without its selection is an error', async () => {
  const { id } = few.owner;
  builder.queryField('careless', (t) =>
    t.prismaField({
      type: 'User',
      skipTypeScopes: true,
      resolve: () => db.user.findUniqueOrThrow({ where: { id } }),
    }),
  );
  const caller = { id, kind: 'person', projects: [], projectId: '', may: () => true } as const;
  const contextValue: Context = { caller, requestId: '' };
  const { errors } = await graphql({ schema: builder.toSchema(), source: '{ careless { email } }', contextValue });
  expect(errors?.[0]?.message).toMatch(/query/i);
});

/** The statements of a request after they have been prepared. */
async function count({ owner, ...values }: Filled, document: string): Promise<string[]> {
  const variables = Object.fromEntries(Object.entries(values).filter(([name]) => document.includes(`$${name}`)));
  const run = async () => {
    const { body } = await owner.graphql(document, variables, { [COUNTED]: 'yes' });
    expect(body.errors).toBeUndefined();
    return body.data;
  };
  await run();
  counted = [];
  await run();
  return counted
    .map(shapeOf)
    .filter((text) => !ELSEWHERE.test(text))
    .sort();
}

/** Identifying the caller is the same for every request; new connections and the database's response time are occasional. */
const ELSEWHERE = /"sessions"."token"|gin_pending_list_limit|^SELECT$/;

/** The start of a statement: the rest may have more parameters, or the filter of each segment. */
const shapeOf = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, 60);

interface Filled {
  owner: Awaited<ReturnType<typeof signedIn>>;
  campaign: string;
  journey: string;
  backtest: string;
  form: string;
  /** Of contacts, groups and segments. */
  ids: string[];
}

/** A project with the given number of rows of everything. */
async function fill(rows: number): Promise<Filled> {
  const api = await testApi();
  const owner = await signedIn(api);
  await using _mail = await takeSystemMail();
  const numbers = Array.from({ length: rows }, (_, index) => index);
  const contacts: string[] = [];
  for (const number of numbers) contacts.push((await api.contact(`c${number}@example.com`)).id);
  const [campaigns, groups, segments, templates]: [string[], string[], string[], string[]] = [[], [], [], []];
  for (const number of numbers) {
    await Promise.all([
      create(api, '/v1/groups', { name: `Group ${number}`, contact_ids: contacts }).then((id) => groups.push(id)),
      create(api, '/v1/segments', {
        name: `S${number}`,
        filter: { field: 'email', op: 'contains', value: `c${number % 3}` },
      }).then((id) => segments.push(id)),
      create(api, '/v1/templates', { name: `T${number}`, body: 'Hello' }).then((id) => templates.push(id)),
      create(api, '/v1/suppressions', { email: `s${number}@example.com` }),
      create(api, '/v1/custom-fields', { key: `field_${number}`, label: `F${number}`, type: 'text' }),
      create(api, '/v1/campaigns', { name: `Campaign ${number}` }).then((id) => campaigns.push(id)),
      owner.graphql(`mutation { createApiKey(input: { name: "K${number}", scope: sending }) { id } }`),
      owner.graphql(`mutation { invite(input: { email: "i${number}@example.com", role: viewer }) { id } }`),
    ]);
  }
  const placed = (number: number) => ({
    name: `event ${number}`,
    contact_id: contacts[number],
    properties: { number },
  });
  await api.post('/v1/events', { events: numbers.map(placed) });
  for (const number of numbers) {
    const id = newId('imp');
    await pool.query(
      `INSERT INTO imports (id, project_id, status, on_conflict, dry_run, create_fields) VALUES ($1, $2, 'completed', 'skip', false, false)`,
      [id, api.projectId],
    );
    await pool.query(
      `INSERT INTO import_errors (import_id, line, field, message) SELECT $1, line, 'email', 'is required' FROM generate_series(1, $2) AS line`,
      [id, number],
    );
  }
  const url = 'https://receiver.example/hook';
  const endpoints: string[] = [];
  for (const number of numbers)
    endpoints.push(await create(api, '/v1/webhooks', { url: `${url}/${number}`, events: ['*'] }));
  const campaign = campaigns[0] ?? '';
  const { projectId } = api;
  // Only of campaigns with open messages it is read which of these wait.
  await pool.query(
    `UPDATE campaigns SET status = 'paused', recipient_count = 1, local_time = '2037-01-01T09:00', time_zone = 'UTC', time_zone_field = 'zone'
     WHERE project_id = $1`,
    [projectId],
  );
  for (const campaignId of campaigns) {
    const notice = { kind: 'campaign_paused', subjectId: campaignId, title: 'Paused', detail: '', advice: '' } as const;
    await inTransaction((tx) => notify(tx, projectId, notice));
  }
  for (const [index, contactId] of contacts.entries()) {
    const [event, delivery, message] = [newId('evt'), newId('dlv'), newId('eml')];
    await pool.query(
      `INSERT INTO domains (id, project_id, domain, updated_at, warmup_steps, warmup_since) VALUES ($1, $2, $3, now(), '{10,20}', now()::date)`,
      [newId('dom'), projectId, `d${index}.example`],
    );
    await pool.query(
      `INSERT INTO mailbox_accounts (id, project_id, email, email_key, provider, host, port, implicit_tls, username, sign_in,
         credentials, per_minute, daily_cap)
       VALUES ($1, $2, $3, $3, 'other', 'mail.example.com', 465, true, $3, 'password', '', 1, 1)`,
      [newId('mbx'), projectId, `m${index}@example.com`],
    );
    await pool.query(
      `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state) VALUES ($1, $2, $3, $4, $5, 'failed')`,
      [message, projectId, campaign, contactId, `c${index}@example.com`],
    );
    await pool.query(`INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'webhook.test', '{}')`, [
      event,
      projectId,
    ]);
    // Closed, so that no worker attempts it.
    await pool.query(
      `INSERT INTO deliveries (id, project_id, endpoint_id, event_id, state, closed_at) VALUES ($1, $2, $3, $4, 'failed', now())`,
      [delivery, projectId, endpoints[index], event],
    );
    await pool.query(
      `INSERT INTO attempts (delivery_id, project_id, number, started_at, duration_ms, headers) VALUES ($1, $2, 1, now(), 5, '{}')`,
      [delivery, projectId],
    );
  }
  await pool.query(
    `INSERT INTO ab_tests (id, project_id, variant_ids, sample_percent, metric, duration_hours, final_campaign_id)
     SELECT postroom_id('abt'), $1, ARRAY[id, $2], 20, 'opens', 24, id FROM campaigns WHERE project_id = $1`,
    [projectId, campaign],
  );
  const journeys: string[] = [];
  for (const [index, groupId] of groups.entries()) {
    const filter = { field: 'group', op: 'in', value: [groupId] };
    const steps = [
      { id: 'wait', type: 'wait', for: { days: 1 }, next: 'if' },
      { id: 'if', type: 'condition', segmentId: segments[index], filter, yes: 'send', no: 'join' },
      { id: 'send', type: 'send', templateId: templates[index], from: 'hello@example.com' },
      { id: 'join', type: 'join_group', groupId },
    ];
    const definition = { entry: { type: 'group_joined', groupId, filter }, steps };
    journeys.push(await create(api, '/v1/journeys', { name: `J${index}`, definition }));
  }
  const journey = journeys[0] ?? '';
  await pool.query(
    `INSERT INTO journey_versions (journey_id, number, definition, published_by_id)
     SELECT $1, n, '{"steps": []}', 'key_' || n FROM generate_series(1, $2) n`,
    [journey, rows],
  );
  for (const [index, contactId] of contacts.entries()) {
    const id = `enr_${index}_${journey}`;
    await pool.query(
      `INSERT INTO enrollments (id, project_id, journey_id, contact_id, version, step_id) VALUES ($1, $2, $3, $4, 1, 'wait')`,
      [id, projectId, journey, contactId],
    );
    await pool.query(
      `INSERT INTO enrollment_steps (enrollment_id, visit, step_id, arrived_at, outcome) VALUES ($1, 0, 'start', now(), 'moved')`,
      [id],
    );
  }
  const { rows: backtests } = await pool.query<{ id: string }>(
    `INSERT INTO backtests (id, project_id, days, until_at, candidate, assumptions, actor_id, status)
     SELECT postroom_id('bkt'), $1, 7, now(), '{"steps": []}',
       '{"delivered": 100, "opened": 0, "clicked": 0, "bounced": 0, "complained": 0, "unsubscribed": 0}', 'key_x', 'completed'
     FROM generate_series(1, $2) RETURNING id`,
    [projectId, rows],
  );
  const backtest = backtests[0]?.id ?? '';
  await pool.query(
    `INSERT INTO backtest_contacts (id, backtest_id, contact_id, difference, candidate, baseline, marks)
     SELECT postroom_id('bkc'), $1, unnest($2::text[]), 'none', '[]', '[]', '{}'`,
    [backtest, contacts],
  );
  const forms: string[] = [];
  for (const [index] of groups.entries()) {
    const fields = [{ key: 'name' }, { key: 'custom_fields.field_0' }];
    forms.push(await create(api, '/v1/forms', { name: `F${index}`, double_opt_in: false, fields }));
  }
  const form = forms[0] ?? '';
  await pool.query(
    `INSERT INTO form_submissions (id, project_id, form_id, email, email_key, submitted_at, expires_at, confirmed_at, contact_id)
     SELECT postroom_id('fsb'), $1, $2, id, id, ARRAY[now()], now(), now(), id FROM unnest($3::text[]) AS id`,
    [projectId, form, contacts],
  );
  return { owner, campaign, journey, backtest, form, ids: [...contacts, ...groups, ...segments] };
}

async function create(api: Api, path: string, body: object): Promise<string> {
  const reply = await api.post(path, body);
  if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`);
  return reply.body.data.id;
}
