import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addLocalDomain } from '@postroom/domains';
import { type SignedIn, signedIn, takeSystemMail, testApi } from '@postroom/testkit';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';

interface Entry {
  action: string;
  actorName: string | null;
  targetKind: string | null;
  targetName: string | null;
}

/** The entries of a project's log, newest first. */
async function log(user: SignedIn, projectId?: string): Promise<Entry[]> {
  const { body } = await user.graphql(
    '{ auditLog { nodes { action actorName targetKind targetName } } }',
    {},
    projectId === undefined ? {} : { 'X-Project-Id': projectId },
  );
  expect(body.errors).toBeUndefined();
  return body.data.auditLog.nodes;
}

const EMAIL = '{ from: "hello@example.com", to: ["ada@example.com"], subject: "Hi", text: "Hi" }';

/** A call of every mutation without the id of a row, and the kind and the name of what its entry is about. */
const CALLS: [call: string, kind: string, name: string | null][] = [
  ['addDomain(input: { domain: "other.example" }) { id }', 'domain', 'other.example'],
  ['addSuppression(input: { email: "a@example.net" }) { created }', 'suppression', 'a@example.net'],
  ['addSuppressions(input: { entries: [{ email: "b@example.net" }] }) { created }', 'project', 'Acme'],
  ['createAbTest(input: { campaignId: $campaign, metric: clicks }) { id }', 'A/B test', 'News'],
  ['createApiKey(input: { name: "CI", scope: full }) { key }', 'API key', 'CI'],
  ['createCampaign(input: { name: "Autumn" }) { name }', 'campaign', 'Autumn'],
  ['createContact(input: { email: "c@example.net" }) { created }', 'contact', 'c@example.net'],
  ['createContactView(input: { name: "Pros", search: {} }) { name }', 'saved view', 'Pros'],
  ['createContacts(input: { contacts: [{ email: "d@example.net" }] }) { index }', 'project', 'Acme'],
  ['createCustomField(input: { key: "town", label: "Town", type: text }) { key }', 'custom field', 'Town'],
  ['createForm(input: { name: "Newsletter", doubleOptIn: false }) { name }', 'form', 'Newsletter'],
  ['createGroup(input: { name: "Readers", emails: ["ada@example.com"] }) { name }', 'group', 'Readers'],
  ['createImport(input: { fileName: "a.csv" }) { status }', 'import', 'a.csv'],
  ['createJourney(input: { name: "Welcome" }) { name }', 'journey', 'Welcome'],
  [
    'createMailProvider(input: { name: "Relay", smtp: { host: "relay.example.com" } }) { name }',
    'mail provider',
    'Relay',
  ],
  [
    'createSegment(input: { name: "All", filter: { field: "email", op: "contains", value: "@" } }) { name }',
    'segment',
    'All',
  ],
  ['createTemplate(input: { name: "Letter", body: "Hello" }) { name }', 'template', 'Letter'],
  [
    'createWebhookEndpoint(input: { url: "https://example.com/hook", events: ["*"] }) { secret }',
    'webhook endpoint',
    'https://example.com/hook',
  ],
  ['erasePerson(email: "gone@example.net") { messages }', 'project', 'Acme'],
  ['invite(input: { email: "grace@example.net", role: member }) { id }', 'invitation', 'grace@example.net'],
  ['renameMe(name: "Ada") { name }', 'user', 'A Person'],
  ['renameProject(name: "Acme") { name }', 'project', 'Acme'],
  ['revealJourneySigningSecret { secret }', 'project', 'Acme'],
  ['rotateJourneySigningSecret { secret }', 'project', 'Acme'],
  [`sendEmail(input: ${EMAIL}) { status }`, 'message', null],
  [`sendEmails(input: { emails: [${EMAIL}] }) { status }`, 'project', 'Acme'],
  ['setBrandColor(color: "#102030") { name }', 'project', 'Acme'],
  ['setCustomEventRetention(days: 40) { name }', 'project', 'Acme'],
  ['setEventRetention(days: 40) { name }', 'project', 'Acme'],
  ['setMessageRetention(days: 40) { name }', 'project', 'Acme'],
  ['setPostalAddress(address: "1 Main Street") { name }', 'project', 'Acme'],
  ['setProjectLogo(image: null) { name }', 'project', 'Acme'],
  ['startBacktest(input: { days: 7, journeyId: $journey }) { status }', 'backtest', 'Onboarding'],
  [
    'startBulkOperation(input: { action: unsubscribe, filter: { search: "ada" } }) { status }',
    'bulk operation',
    '1 contact',
  ],
  ['trackEvents(input: { email: "ada@example.com", name: "order placed" }) { accepted }', 'project', 'Acme'],
  ['updateNotificationSettings(input: { emails: false }) { notificationSettings { emails } }', 'user', 'Ada'],
  ['updateSendingPolicy(input: { ratePerSecond: 9 }) { ratePerSecond }', 'project', 'Acme'],
  ['updateTracking(opens: false) { name }', 'project', 'Acme'],
];

/** Mutations without the id of a row that are driven elsewhere, or can't be here. */
const OTHERS = [
  // Below, in the log of the project that they are about.
  'createProject',
  'invitationAccept',
  // Not in the log of the project, which is deleted with it: modules/auth/test/project-deletion.integration.test.ts.
  'projectDelete',
  // In the logs of all of the user's projects: modules/auth/test/email-change.integration.test.ts.
  'emailChangeConfirm',
  // Not recorded.
  'emailChangeRequest',
  'markNotificationsRead',
  // Signs in to a mail server.
  'connectMailbox',
];

const schema = buildSchema(readFileSync(join(import.meta.dirname, '../../../schema.graphql'), 'utf8'));
const isDone = new Set([...CALLS.map(([call]) => /^\w+/.exec(call)?.[0]), ...OTHERS]);

test('every mutation without the id of a row is driven below', () => {
  const missing = Object.values(schema.getMutationType()?.getFields() ?? {}).filter(
    ({ name, args, deprecationReason }) =>
      deprecationReason === undefined && !args.some((arg) => ['id', 'userId'].includes(arg.name)) && !isDone.has(name),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test('every entry names what was touched, if only the project', async () => {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  await using _mail = await takeSystemMail();
  const owner = await signedIn(api);
  await api.contact('ada@example.com');
  const create = async (path: string, body: object): Promise<string> => {
    const reply = await api.post(path, body);
    expect(reply.status, JSON.stringify(reply.body)).toBe(201);
    return reply.body.data.id;
  };
  const ids = {
    campaign: await create('/v1/campaigns', {
      name: 'News',
      from_email: 'news@example.com',
      subject: 'News',
      html: '<p>News</p>',
    }),
    journey: await create('/v1/journeys', {
      name: 'Onboarding',
      definition: {
        entry: { type: 'event', event: 'order placed' },
        steps: [{ id: 'wait', type: 'wait', for: { days: 1 } }],
      },
    }),
  };
  await owner.graphql('mutation { renameProject(name: "Acme") { id } }');
  const named: typeof CALLS = [];
  for (const [call] of CALLS) {
    const used = Object.keys(ids).filter((each) => call.includes(`$${each}`));
    const declared = used.length === 0 ? '' : `(${used.map((each) => `$${each}: ID!`).join(', ')})`;
    const { body } = await owner.graphql(`mutation ${declared} { ${call} }`, ids);
    expect(body.errors, call).toBeUndefined();
    const [entry] = await log(owner);
    named.push([call, entry?.targetKind ?? '', entry?.targetName ?? null]);
  }
  expect(named).toEqual(CALLS);
});

test('a new project begins its own log, and the log of the current project is silent about it', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const { body } = await owner.graphql('mutation { createProject(name: "Spin-off") { id } }');
  const { id } = body.data.createProject;
  expect(await log(owner, id)).toEqual([
    { action: 'createProject', actorName: 'A Person', targetKind: 'project', targetName: 'Spin-off' },
  ]);
  expect(await log(owner)).toEqual([]);
});

test('anyone who accepts an invitation is in the log of the project that they joined, also with a new account', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  await using mail = await takeSystemMail();
  await owner.graphql('mutation { invite(input: { email: "grace@new.example", role: member }) { id } }');
  const token = new URL(await mail.linkTo('grace@new.example')).searchParams.get('token');
  const { body } = await api.graphql(
    'mutation ($input: AcceptInvitationInput!) { invitationAccept(input: $input) { project { id } } }',
    { input: { token, name: 'Grace', password: 'correct horse battery' } },
    { key: null },
  );
  expect(body.errors).toBeUndefined();
  expect((await log(owner))[0]).toEqual({
    action: 'acceptInvitation',
    actorName: 'Grace',
    targetKind: 'user',
    targetName: 'Grace',
  });
});
