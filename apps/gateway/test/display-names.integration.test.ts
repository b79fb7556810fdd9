import { readFileSync } from 'node:fs';
import { type Reply, signedIn } from '@postroom/testkit';
import { buildSchema, type GraphQLInputType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import { expect, test } from 'vitest';
import { everything } from './rest/fixtures.ts';

const BAD_NAMES = {
  'a line break': 'Ada\r\nBcc: eve@example.com',
  'a final line break': 'Ada\n',
  NUL: 'a\0b',
  'an escape': 'a\u001b[31mb',
  'a C1 control': 'a\u0085b',
  'a line separator': 'a\u2028b',
  'a bidi override': 'invoice\u202efdp.exe',
  'a bidi isolate': 'a\u2066b',
  'invisible characters only': '\u200b\u2060',
  'a filler': '\u3164',
};

/** Names of people and things that contain characters like those above. */
const GOOD_NAMES = ['Zoë 👩‍👩‍👧', 'می‌خواهم', '\u200fשלום', 'नमस्ते', 'a  b'];

/** One name that a tenant can set: a member of an input, or an argument of a mutation. */
interface Name {
  /** Where the schema has it, such as `CreateGroupInput.name`. */
  covers: string;
  /** The field that errors name; in /v1 in snake_case. */
  field?: string;
  mutation: string;
  /** The type of the input; without one, the mutation has the arguments themselves. */
  id?: string;
  input: (name: string) => Record<string, unknown>;
  /** The route of /v1, and its body if it isn't the input in snake_case. */
  route?: [method: 'POST' | 'PATCH', path: string];
  body?: (name: string) => unknown;
  /** Whether a blank name is none, rather than an error. */
  optional?: true;
}

const { api, ids } = await everything();
const owner = await signedIn(api);
const provider = await created('createMailProvider', '{ name: "P", smtp: { host: "mail.example.com" } }');
const journey = await created('createJourney', '{ name: "Welcome" }');
const id = (collection: string) => ids[collection] as string;
const email = (more: object) => ({ from: 'a@example.com', to: ['b@example.com'], subject: 'Hi', text: 'Hi', ...more });
const scoped = { scope: 'sending', projectIds: [api.projectId] };
const filter = { field: 'email', op: 'contains', value: '@' };
let number = 0;

const NAMES: Name[] = [
  { covers: 'createProject.name', mutation: 'createProject', input: (name) => ({ name }) },
  { covers: 'renameProject.name', mutation: 'renameProject', input: (name) => ({ name }) },
  { covers: 'renameMe.name', mutation: 'renameMe', input: (name) => ({ name }) },
  { covers: 'CreateApiKeyInput.name', mutation: 'createApiKey', input: (name) => ({ name, ...scoped }) },
  {
    covers: 'CreateContactInput.name',
    mutation: 'createContact',
    input: (name) => ({ email: `new${++number}@example.com`, name }),
    route: ['POST', '/v1/contacts'],
    optional: true,
  },
  {
    covers: 'UpdateContactInput.name',
    mutation: 'updateContact',
    id: id('/v1/contacts'),
    input: (name) => ({ name }),
    route: ['PATCH', '/v1/contacts/{id}'],
    optional: true,
  },
  {
    covers: 'CreateGroupInput.name',
    mutation: 'createGroup',
    input: (name) => ({ name, emails: ['ada@example.com'] }),
    route: ['POST', '/v1/groups'],
  },
  {
    covers: 'UpdateGroupInput.name',
    mutation: 'updateGroup',
    id: id('/v1/groups'),
    input: (name) => ({ name }),
    route: ['PATCH', '/v1/groups/{id}'],
  },
  {
    covers: 'setGroupPublicName.publicName',
    field: 'publicName',
    mutation: 'setGroupPublicName',
    id: id('/v1/groups'),
    input: (publicName) => ({ publicName }),
  },
  {
    covers: 'createGroupFromRecipients.name',
    mutation: 'createGroupFromRecipients',
    id: id('/v1/campaigns'),
    input: (name) => ({ name, filter: {} }),
    route: ['POST', '/v1/campaigns/{id}/recipients/group'],
  },
  {
    covers: 'StartBulkOperationInput.groupName',
    field: 'groupName',
    mutation: 'startBulkOperation',
    input: (groupName) => ({ action: 'add_to_group', filter: {}, groupName }),
    route: ['POST', '/v1/bulk-operations'],
  },
  {
    covers: 'CreateSegmentInput.name',
    mutation: 'createSegment',
    input: (name) => ({ name, filter }),
    route: ['POST', '/v1/segments'],
  },
  {
    covers: 'UpdateSegmentInput.name',
    mutation: 'updateSegment',
    id: id('/v1/segments'),
    input: (name) => ({ name }),
    route: ['PATCH', '/v1/segments/{id}'],
  },
  {
    covers: 'CreateTemplateInput.name',
    mutation: 'createTemplate',
    input: (name) => ({ name, body: '<p>Hi</p>' }),
    route: ['POST', '/v1/templates'],
  },
  {
    covers: 'UpdateTemplateInput.name',
    mutation: 'updateTemplate',
    id: id('/v1/templates'),
    input: (name) => ({ name }),
    route: ['PATCH', '/v1/templates/{id}'],
  },
  {
    covers: 'CreateCampaignInput.name',
    mutation: 'createCampaign',
    input: (name) => ({ name }),
    route: ['POST', '/v1/campaigns'],
  },
  {
    covers: 'UpdateCampaignInput.name',
    mutation: 'updateCampaign',
    id: id('/v1/campaigns'),
    input: (name) => ({ name }),
    route: ['PATCH', '/v1/campaigns/{id}'],
  },
  {
    covers: 'CreateCampaignInput.fromName',
    field: 'fromName',
    mutation: 'createCampaign',
    input: (fromName) => ({ name: 'News', fromName }),
    route: ['POST', '/v1/campaigns'],
    optional: true,
  },
  {
    covers: 'UpdateCampaignInput.fromName',
    field: 'fromName',
    mutation: 'updateCampaign',
    id: id('/v1/campaigns'),
    input: (fromName) => ({ fromName }),
    route: ['PATCH', '/v1/campaigns/{id}'],
    optional: true,
  },
  {
    covers: 'TestTemplateInput.fromName',
    field: 'fromName',
    mutation: 'testTemplate',
    id: id('/v1/templates'),
    input: (fromName) => ({ emails: ['a@example.com'], fromEmail: 'a@example.com', fromName }),
    route: ['POST', '/v1/templates/{id}/test'],
    optional: true,
  },
  { covers: 'CreateJourneyInput.name', mutation: 'createJourney', input: (name) => ({ name }) },
  { covers: 'UpdateJourneyInput.name', mutation: 'updateJourney', id: journey, input: (name) => ({ name }) },
  {
    covers: 'CreateWebhookEndpointInput.description',
    field: 'description',
    mutation: 'createWebhookEndpoint',
    input: (description) => ({ url: 'https://example.com/', events: ['*'], description }),
    route: ['POST', '/v1/webhooks'],
    optional: true,
  },
  {
    covers: 'UpdateWebhookEndpointInput.description',
    field: 'description',
    mutation: 'updateWebhookEndpoint',
    id: id('/v1/webhooks'),
    input: (description) => ({ description }),
    route: ['PATCH', '/v1/webhooks/{id}'],
    optional: true,
  },
  {
    covers: 'CreateContactViewInput.name',
    mutation: 'createContactView',
    input: (name) => ({ name, search: {} }),
  },
  {
    covers: 'CreateCustomFieldInput.label',
    field: 'label',
    mutation: 'createCustomField',
    input: (label) => ({ key: `key${++number}`, label, type: 'text' }),
    route: ['POST', '/v1/custom-fields'],
  },
  {
    covers: 'CreateCustomFieldInput.options',
    field: 'options.0',
    mutation: 'createCustomField',
    input: (option) => ({ key: `key${++number}`, options: [option], type: 'select' }),
    route: ['POST', '/v1/custom-fields'],
  },
  {
    covers: 'UpdateCustomFieldInput.label',
    field: 'label',
    mutation: 'updateCustomField',
    id: id('/v1/custom-fields'),
    input: (label) => ({ label }),
    route: ['PATCH', '/v1/custom-fields/{id}'],
  },
  {
    covers: 'UpdateCustomFieldInput.options',
    field: 'options.2',
    mutation: 'updateCustomField',
    id: id('/v1/custom-fields'),
    input: (option) => ({ options: ['free', 'pro', option] }),
    route: ['PATCH', '/v1/custom-fields/{id}'],
  },
  {
    covers: 'MailProviderInput.name',
    mutation: 'createMailProvider',
    input: (name) => ({ name, smtp: { host: 'mail.example.com' } }),
  },
  { covers: 'MailProviderInput.name', mutation: 'updateMailProvider', id: provider, input: (name) => ({ name }) },
  {
    covers: 'CreateFormInput.name',
    mutation: 'createForm',
    input: (name) => ({ name, doubleOptIn: false }),
    route: ['POST', '/v1/forms'],
  },
  {
    covers: 'UpdateFormInput.name',
    mutation: 'updateForm',
    id: id('/v1/forms'),
    input: (name) => ({ name }),
    route: ['PATCH', '/v1/forms/{id}'],
  },
  {
    covers: 'UpdateFormInput.title',
    field: 'title',
    mutation: 'updateForm',
    id: id('/v1/forms'),
    input: (title) => ({ title }),
    route: ['PATCH', '/v1/forms/{id}'],
  },
  {
    covers: 'FormFieldInput.label',
    field: 'fields.0.label',
    mutation: 'updateForm',
    id: id('/v1/forms'),
    input: (label) => ({ fields: [{ key: 'name', label }] }),
    route: ['PATCH', '/v1/forms/{id}'],
    optional: true,
  },
  {
    covers: 'ImportContactsInput.groupName',
    field: 'groupName',
    mutation: 'createImport',
    input: (groupName) => ({ groupName }),
  },
  {
    covers: 'ImportContactsInput.fileName',
    field: 'fileName',
    mutation: 'createImport',
    input: (fileName) => ({ fileName }),
    optional: true,
  },
  {
    covers: 'TrackEventsInput.name',
    mutation: 'trackEvents',
    input: (name) => ({ name, email: 'ada@example.com' }),
    route: ['POST', '/v1/events'],
  },
  {
    covers: 'TrackEventsInput.properties',
    field: 'properties',
    mutation: 'trackEvents',
    input: (key) => ({ name: 'order placed', email: 'ada@example.com', properties: { [key]: 1 } }),
    route: ['POST', '/v1/events'],
    body: (key) => ({ name: 'order placed', email: 'ada@example.com', properties: { [key]: 1 } }),
  },
  {
    covers: 'SendEmailInput.tags',
    field: 'tags.1',
    mutation: 'sendEmail',
    input: (tag) => email({ tags: ['news', tag] }),
    route: ['POST', '/v1/emails'],
  },
  {
    covers: 'SendEmailInput.from',
    field: 'from',
    mutation: 'sendEmail',
    input: (name) => email({ from: `"${name}" <a@example.com>` }),
    route: ['POST', '/v1/emails'],
    optional: true,
  },
  {
    covers: 'SendEmailInput.to',
    field: 'to',
    mutation: 'sendEmail',
    input: (name) => email({ to: [`"${name}" <a@example.com>`] }),
    route: ['POST', '/v1/emails'],
    optional: true,
  },
  {
    covers: 'AttachmentInput.filename',
    field: 'attachments.0.filename',
    mutation: 'sendEmail',
    input: (filename) => email({ attachments: [{ filename, content: 'aGk=' }] }),
    route: ['POST', '/v1/emails'],
  },
];

/** Members called like a name that are none, or that another test covers. */
const OTHERS = new Set([
  'AcceptInvitationInput.name', // Checked by the same function as createUser: modules/auth.
  'AddDomainInput.mailFromLabel', // A label of a hostname.
  'BatchContactInput.name', // See the last test.
  'CreateFormInput.description', // A text of several lines.
  'ConnectMailboxInput.username',
  'CustomEventInput.name', // See the last test.
  'CustomEventPropertyChange.description', // A text of several lines.
  'CustomEventPropertyChange.name', // Names a property that exists.
  'ImportColumnsInput.name', // Names a column of the file.
  'SmtpProviderInput.username',
  'UpdateCustomEventDefinitionInput.description', // A text of several lines.
  'UpdateFormInput.description', // A text of several lines.
  'UpdateMailboxInput.username',
  'projectDelete.name', // The name that the project has.
]);

async function created(mutation: string, input: string): Promise<string> {
  const { body } = await owner.graphql(`mutation { ${mutation}(input: ${input}) { id } }`);
  return body.data[mutation].id;
}

const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));
const named = (type: GraphQLInputType): GraphQLInputType =>
  isNonNullType(type) || isListType(type) ? named(type.ofType as GraphQLInputType) : type;

test('the table has every name of the schema', () => {
  const texts = (owner: string, fields: readonly { name: string; type: GraphQLInputType }[]) =>
    fields.filter(({ type }) => named(type).toString() === 'String').map(({ name }) => `${owner}.${name}`);
  const inputs = Object.values(schema.getTypeMap())
    .filter(isInputObjectType)
    .flatMap((type) => texts(type.name, Object.values(type.getFields())));
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap(({ name, args }) =>
    texts(name, args),
  );
  const names = [...inputs, ...mutations].filter((path) => /(name|label|description|options|tags)$/i.test(path));
  const covered = new Set(NAMES.map(({ covers }) => covers));
  expect(names.filter((path) => !covered.has(path) && !OTHERS.has(path))).toEqual([]);
  expect([...OTHERS].filter((path) => !names.includes(path))).toEqual([]);
});

const snake = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

async function overGraphql({ mutation, id, input }: Name, name: string): Promise<Reply> {
  const field = schema.getMutationType()?.getFields()[mutation];
  const isInput = field?.args.some((arg) => arg.name === 'input') === true;
  const variables = { ...(id === undefined ? {} : { id }), ...(isInput ? { input: input(name) } : input(name)) };
  const args = (field?.args ?? []).filter((arg) => arg.name in variables);
  return owner.graphql(
    `mutation (${args.map((arg) => `$${arg.name}: ${arg.type.toString()}`).join(', ')}) {
       ${mutation}(${args.map((arg) => `${arg.name}: $${arg.name}`).join(', ')}) { __typename }
     }`,
    variables,
  );
}

function overRest({ route, id = '', input, body }: Name, name: string): Promise<Reply> {
  const [method, path] = route ?? ['POST', ''];
  const given =
    body?.(name) ?? Object.fromEntries(Object.entries(input(name)).map(([key, value]) => [snake(key), value]));
  return api.send(method, path.replace('{id}', id), { body: given });
}

/** A member that is not the name itself is named up to the name: `properties.a`, `input.name`. */
const isNamed = (field: string, details: { field: string }[] | undefined, message: string) =>
  details?.some((detail) => detail.field === field || detail.field.startsWith(`${field}.`)) === true ||
  message.includes(field);

test.each(NAMES.map((name) => [`${name.mutation}: ${name.covers}`, name] as const))('%s', async (_title, name) => {
  const { field = 'name' } = name;
  const bad = { ...BAD_NAMES, ...(name.optional === true ? {} : { 'no character': ' ' }) };
  for (const [what, text] of Object.entries(bad)) {
    const { body } = await overGraphql(name, text);
    const [error] = body.errors ?? [];
    expect(error?.extensions, what).toMatchObject({ code: 'validation_error' });
    expect(isNamed(field, error.extensions.details, error.message), `${what}: ${JSON.stringify(error)}`).toBe(true);
    if (name.route === undefined) continue;
    const reply = await overRest(name, text);
    expect(reply, what).toMatchObject({ status: 400, body: { error: { code: 'validation_error' } } });
    const { details, message } = reply.body.error;
    expect(isNamed(snake(field), details, message), `${what}: ${JSON.stringify(reply.body)}`).toBe(true);
  }
  for (const text of GOOD_NAMES) {
    const { body } = await overGraphql(name, text);
    // A record that an earlier test created may have the name already.
    const refusal = body.errors?.find(
      (error: { extensions: { code: string } }) => error.extensions.code !== 'conflict',
    );
    expect(isNamed(field, refusal?.extensions.details, ''), `${text}: ${JSON.stringify(refusal)}`).toBe(false);
  }
});

test('a contact of a batch and an event of a batch report problems in their results', async () => {
  for (const name of Object.values(BAD_NAMES)) {
    const contacts = await api.post('/v1/contacts/batch', { contacts: [{ email: 'c@example.com', name }] });
    const events = await api.post('/v1/events', { events: [{ name, email: 'ada@example.com' }] });
    for (const { body } of [contacts, events])
      expect(JSON.stringify(body.error?.details ?? body.data), name).toMatch(/"field":"(\w+\.0\.)?name"/);
  }
});

test('a line break in a subject is the space that is sent, in templates, campaigns and emails', async () => {
  const subject = 'Your order\r\n {{ number }}\u2028has left\n';
  const oneLine = 'Your order {{ number }} has left';
  const shown = async (path: string, body: object) => {
    const { data } = (await api.post(path, body)).body;
    return (await api.get(`${path}/${data.id}`)).body.data.subject;
  };
  expect(await shown('/v1/templates', { name: 'Broken subject', subject, body: '<p>Hi</p>' })).toBe(oneLine);
  expect(await shown('/v1/campaigns', { name: 'Broken subject', subject })).toBe(oneLine);
  const later = { scheduled_at: new Date(Date.now() + 86_400_000).toISOString() };
  expect(await shown('/v1/emails', email({ subject, ...later }))).toBe(oneLine);
  expect(await shown('/v1/emails', email({ subject, variables: { number: '1\n2' }, ...later }))).toBe(
    'Your order 1 2 has left',
  );
  expect((await api.post('/v1/emails', email({ subject: '\n' }))).body.error.details).toEqual([
    { field: 'subject', message: 'is required' },
  ]);
});
