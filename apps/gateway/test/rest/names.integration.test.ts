import { DomainError, type Route } from '@postroom/platform';
import { getNamedType, isInputObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { routes } from '../../src/routes.ts';
import { schema } from '../../src/schema.ts';
import { everything, type Everything } from './fixtures.ts';
import { renameFieldsInError } from '../../src/rest/names.ts';
import { requestShape, type Variable } from '../../src/rest/request.ts';

/** Values that some field rejects: wrong type, too long, unknown, out of range, in the past, in conflict. */
const BAD: readonly unknown[] = [
  null,
  7,
  -1,
  2 ** 53,
  '',
  'x',
  'x'.repeat(1_000),
  'a b@@example',
  '{{x',
  '2001-02-03T04:05:06Z',
  [],
  [7],
  ['x'],
  ['x@example.com', 'x'],
  ['grp_01h455vb4pex5vsknk084sn02q'],
  {},
  { from_email: 1 },
  [{ email: 'x', custom_fields: 7, filename: 7 }],
  true,
];

/** Finds GraphQL names in messages, ignoring quoted text of the caller. */
const camelCase = (text: string) => /\b[a-z]+[A-Z][a-zA-Z]*/.exec(text.replaceAll(/"[^"]*"/g, ''))?.[0];

function bodyOf({ example = {} }: Route, { references }: Everything): Record<string, unknown> {
  const known = Object.entries(references).filter(([name]) => name in example);
  const own = known.map(([name, id]) => [name, Array.isArray(example[name]) ? [id] : id]);
  return { ...example, ...Object.fromEntries(own) };
}

const shapes = routes.map((route) => ({ route, shape: requestShape(schema, route) }));
const withFields = shapes
  .filter(({ shape }) => shape.body.length + shape.query.length > 0)
  .map((one): [string, (typeof shapes)[number]] => [`${one.route.method} ${one.route.path}`, one]);

/** For reads, which change nothing. */
let shared: Promise<Everything> | undefined;

describe('every field error uses the /v1 name, in message and details', () => {
  test.each(withFields)('%s', { timeout: 60_000 }, async (_name, { route, shape }) => {
    const all = await (route.method === 'GET' ? (shared ??= everything()) : everything());
    const path = all.fill(route.path);
    const valid = bodyOf(route, all);
    const seen = new Set<string>();
    const check = async (target: string, body: object | undefined) => {
      const reply = await all.api.send(route.method, target, body === undefined ? {} : { body });
      expect(reply.status).toBeLessThan(500);
      if (reply.status < 400) return;
      const { message, details } = reply.body.error as {
        message: string;
        details: { field: string; message: string }[];
      };
      for (const text of [message, ...details.flatMap((detail) => [detail.field, detail.message])])
        if (camelCase(text) !== undefined) seen.add(text.slice(0, 300));
    };
    for (const { name } of shape.body) {
      for (const bad of BAD) await check(path, { ...valid, [name]: bad });
      // Alone, so that missing fields are reported too.
      await check(path, { [name]: valid[name] ?? 'x' });
    }
    for (const { name } of shape.query)
      for (const bad of ['', 'x', '7', '-1', 'x'.repeat(1_000), '%00', 'a,b', '2001-02-03'])
        await check(`${path}?${name}=${bad}`, route.method === 'GET' || route.method === 'DELETE' ? undefined : valid);
    expect([...seen]).toEqual([]);
  });
});

/** A value of another type. */
const wrongFor = ({ type }: Variable) => (String(type).startsWith('[') || getNamedType(type).name === 'Int' ? 'x' : 7);

const WRONG_TYPE =
  /^must be (a string|an array|an object(: .+)?|true or false|a number|a 32-bit integer|an ISO 8601 date and time .+|one of: .+|an address or a list of addresses)$/;

describe('a value of the wrong type is refused in the same words everywhere', () => {
  test.each(
    shapes.filter(({ shape }) => shape.body.length > 0).map((one) => [one.route.path, one.route.method, one] as const),
  )('%s %s', async (_path, _method, { route, shape }) => {
    const all = await (shared ??= everything());
    for (const variable of shape.body) {
      const body = { ...bodyOf(route, all), [variable.name]: wrongFor(variable) };
      const { status, body: reply } = await all.api.send(route.method, all.fill(route.path), { body });
      expect([status, reply.error?.details]).toEqual([
        400,
        [{ field: variable.name, message: expect.stringMatching(WRONG_TYPE) }],
      ]);
    }
  });
});

test('every field of a request is in snake_case, including nested ones', () => {
  const names = (variable: Variable): string[] => {
    const type = getNamedType(variable.type);
    const inner = isInputObjectType(type) ? Object.values(type.getFields()).map(({ name }) => name) : [];
    return [variable.name, ...inner.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))];
  };
  for (const { shape } of shapes)
    for (const name of [...shape.path, ...shape.query, ...shape.body].flatMap(names))
      expect(name).toMatch(/^[a-z0-9_]+$/);
});

test.each([
  [['fromEmail'], 'The campaign is incomplete: fromEmail.', ['from_email'], 'The campaign is incomplete: from_email.'],
  [['groupIds.0'], 'groupIds.0: is not a group', ['group_ids.0'], 'group_ids.0: is not a group'],
  [['first'], 'first: must be at least 1', ['limit'], 'limit: must be at least 1'],
  [['contacts.3.customFields.ageYears'], 'x', ['contacts.3.custom_fields.ageYears'], 'x'],
  [['properties.items.0.skuCode'], 'x', ['properties.items.0.skuCode'], 'x'],
  [['properties.2.defaultValue'], 'x', ['properties.2.default_value'], 'x'],
  [['filter.not.campaignId'], 'x', ['filter.not.campaign_id'], 'x'],
  [['definition.entry.groupId'], 'x', ['definition.entry.group_id'], 'x'],
  [
    ['name'],
    'A group named "fromEmail" exists; set fromEmail',
    ['name'],
    'A group named "fromEmail" exists; set from_email',
  ],
  [[], 'Provide contactIds, emails or both.', [], 'Provide contact_ids, emails or both.'],
  [
    ['html'],
    'html: is required, unless templateId is given',
    ['html'],
    'html: is required, unless template_id is given',
  ],
  [['html'], '{{groupName}} or customFields.groupName', ['html'], '{{groupName}} or custom_fields.groupName'],
  [['html'], 'the server said someThing', ['html'], 'the server said someThing'],
  [['fromEmail', 'html'], '"fromEmail" and fromEmail', ['from_email', 'html'], '"fromEmail" and from_email'],
])('an error about %j uses /v1 names', (fields, message, expected, told) => {
  const error = new DomainError(
    'validation_error',
    message,
    fields.map((field) => ({ field, message: 'is wrong' })),
  );
  const renamed = renameFieldsInError(error) as DomainError;
  expect([renamed.details.map(({ field }) => field), renamed.message]).toEqual([expected, told]);
});
