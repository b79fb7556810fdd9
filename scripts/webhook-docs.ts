// Writes the event type reference into docs/reference/webhooks.md, between its markers: `npm run webhook-docs`.
// A test compares the page with what this generates from modules/events/src/event-types.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventTypeName } from '@postroom/events';
import { z } from 'zod';

const PAGE = new URL('../docs/reference/webhooks.md', import.meta.url);
const [BEGIN, END] = ['<!-- The event types, by scripts/webhook-docs.ts -->', '<!-- End of the event types -->'];

const FAMILIES = [
  {
    prefix: 'contact.',
    title: 'contact.*',
    about: 'A contact after the change, or before its deletion.',
  },
  { prefix: 'email.', title: 'email.*', about: 'One message to one recipient, of a campaign or transactional.' },
  { prefix: 'campaign.', title: 'campaign.*', about: 'A campaign as a whole.' },
  {
    prefix: 'webhook.',
    title: 'webhook.test',
    about: 'Sent to the endpoint it names, regardless of its subscriptions.',
  },
];

/** The families of the types that modules contribute. */
const CONTRIBUTED = [...new Set(EVENT_TYPE_NAMES.map((type) => type.slice(0, type.indexOf('.') + 1)))]
  .filter((prefix) => FAMILIES.every((family) => family.prefix !== prefix))
  .map((prefix) => ({ prefix, title: `${prefix}*`, about: '' }));

type Members = Map<string, { type: string; description: string }>;

/** The page with the current event types. */
export function withEventTypes(page: string): string {
  const [before = '', rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  return `${before}${BEGIN}\n\n${overview()}\n\n${[...FAMILIES, ...CONTRIBUTED].map(family).join('\n\n')}\n\n${END}${after}`;
}

function overview(): string {
  const rows = EVENT_TYPE_NAMES.map(
    (type) => `| \`${type}\` | ${EVENT_TYPES[type].fires} | [schema](http://127.0.0.1:3400/docs/events/${type}.json) |`,
  );
  return ['| event | fires when | body |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The members that all types of a family share are listed once, and those of one type in the last column. */
function family({ prefix, title, about }: (typeof FAMILIES)[number]): string {
  const types = EVENT_TYPE_NAMES.filter((type) => type.startsWith(prefix));
  const rows = [...everyMember(types)].map(([name, { type, description }]) => {
    const having = types.filter((one) => name in EVENT_TYPES[one].data.shape);
    const only = having.length === types.length ? '' : having.map((one) => `\`${one}\``).join(', ');
    return `| \`${name}\` | ${type} | ${description} | ${only} |`;
  });
  return [
    `### ${title}`,
    about,
    ['| member of `data` | type | | only in |', '| --- | --- | --- | --- |', ...rows].join('\n'),
    `\`\`\`jsonc\n${examples(types).join('\n')}\n\`\`\``,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** An example for each type. Equal ones are merged, and the others show only members that the first example lacks. */
function examples(types: readonly EventTypeName[]): string[] {
  const alike = Map.groupBy(types, (type) => JSON.stringify(EVENT_TYPES[type].example));
  const [[first = '{}'] = []] = alike;
  const shown = JSON.parse(first) as Record<string, unknown>;
  return [...alike].map(([example, names]) => {
    const members = Object.entries(JSON.parse(example) as Record<string, unknown>);
    const shared = members.filter(([name, value]) => JSON.stringify(shown[name]) === JSON.stringify(value));
    const whole = example === first;
    const lines = (whole ? members : members.filter((member) => !shared.includes(member))).map(
      ([name, value]) => `"${name}": ${JSON.stringify(value)}`,
    );
    return `// ${names.join(', ')}\n{ ${[...(whole || shared.length === 0 ? [] : ['…']), ...lines].join(', ')} }`;
  });
}

function everyMember(types: readonly EventTypeName[]): Members {
  const members: Members = new Map();
  for (const type of types) {
    const schema = z.toJSONSchema(EVENT_TYPES[type].data, { io: 'input' }) as ObjectSchema;
    for (const [name, property] of Object.entries(schema.properties)) {
      const optional = schema.required?.includes(name) === true ? '' : ', may be missing';
      members.set(name, { type: typeInWords(property) + optional, description: property.description ?? '' });
    }
  }
  return members;
}

interface PropertySchema {
  type?: string | string[];
  /** What may be null has a type here if its values are bounded. */
  anyOf?: PropertySchema[];
  items?: PropertySchema;
  description?: string;
}
interface ObjectSchema {
  properties: Record<string, PropertySchema>;
  required?: string[];
}

function typeInWords({ type, anyOf, items }: PropertySchema): string {
  if (anyOf !== undefined) return anyOf.map(typeInWords).join(' or ');
  if (items !== undefined) return `${typeInWords(items)}[]`;
  return [type].flat().join(' or ');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(PAGE, withEventTypes(readFileSync(PAGE, 'utf8')));
}
