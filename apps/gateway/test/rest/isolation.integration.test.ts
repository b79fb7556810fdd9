import { pool, type Route } from '@postroom/platform';
import { beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../src/routes.ts';
import { schema } from '../../src/schema.ts';
import { everything, type Everything } from './fixtures.ts';
import { requestShape } from '../../src/rest/request.ts';

// Covers every route of `/v1`; a new route fails here until it is supported.

let own: Everything;
let other: Everything;

beforeAll(async () => {
  [own, other] = await Promise.all([everything(), everything()]);
  // A worker of other tests would carry it out, and change what is compared.
  await pool.query("UPDATE bulk_operations SET status = 'completed', finished_at = now() WHERE id = $1", [
    other.ids['/v1/bulk-operations'],
  ]);
});

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const named = (some: readonly Route[]) => some.map((route): [string, Route] => [nameOf(route), route]);
const withBody = ({ method, example }: Route) =>
  method === 'GET' || method === 'DELETE' ? {} : { body: example ?? {} };

/** The response of a route to a key, for the ids of a project. */
async function ask(route: Route, about: Everything, key: string | null, projectId?: string) {
  const headers: Record<string, string> = projectId === undefined ? {} : { 'X-Project-Id': projectId };
  const reply = await about.api.send(route.method, about.fill(route.path), { key, headers, ...withBody(route) });
  return `${reply.status} ${reply.body.error?.code ?? ''}`.trim();
}

/** Everything that a project's API shows. */
async function state({ api, ids, fill }: Everything) {
  const { key } = await api.newKey('full');
  const lists = Object.keys(ids).filter(
    (path) => path !== '/v1/projects' && routes.some((route) => route.method === 'GET' && route.path === path),
  );
  return Promise.all(
    lists.map(fill).map(async (path) => (await api.send('GET', `${path}?limit=1000`, { key })).body.data as object[]),
  );
}

/** The routes whose paths can contain another project's ids. */
const naming = routes.filter(({ path, project }) =>
  path.replace(project === 'path' ? '/v1/projects/{id}' : '', '').includes('{'),
);

describe("another project's row is 404 not_found, like an absent one", () => {
  const answered = naming.filter(({ project, deprecated }) => project !== 'path' && deprecated === undefined);
  test.each(named(answered))('%s', async (_name, route) => {
    expect(await ask(route, other, own.api.key)).toBe('404 not_found');
  });

  test('POST /v1/contacts/{id}/erase is rejected before any lookup: no key may erase', async () => {
    const [route] = routes.filter(({ path }) => path === '/v1/contacts/{id}/erase');
    expect(await ask(route as Route, other, own.api.key)).toBe('403 forbidden');
    expect(await ask(route as Route, own, own.api.key)).toBe('403 forbidden');
  });
});

describe("another project's key is 403 forbidden where the path names the project", () => {
  test.each(named(routes.filter(({ project }) => project === 'path')))('%s', async (_name, route) => {
    expect(await ask(route, other, own.api.key)).toBe('403 forbidden');
  });
});

describe('naming a project that the key is not authorized for is 403 forbidden', () => {
  test.each(named(routes.filter(({ project }) => project === undefined || project === 'header')))(
    '%s',
    async (_name, route) => {
      expect(await ask(route, own, own.api.key, other.api.projectId)).toBe('403 forbidden');
    },
  );
});

describe('a sending key is 403 insufficient_scope wherever the full scope is needed', () => {
  test.each(named(routes.filter(({ needs }) => needs === 'full')))('%s', async (_name, route) => {
    const { key } = await own.api.newKey('sending');
    expect(await ask(route, own, key)).toBe('403 insufficient_scope');
  });
});

describe('without a key, every route responds 401', () => {
  test.each(named(routes))('%s', async (_name, route) => {
    expect(await ask(route, own, null)).toBe('401 unauthorized');
  });
});

test('only POST /v1/emails accepts a sending key', () => {
  expect(routes.filter(({ needs }) => needs !== 'full').map(nameOf)).toEqual(['POST /v1/emails']);
});

/** Other ids that a request may contain, in its body or its query. */
interface Reference {
  route: Route;
  place: 'query' | 'body';
  name: string;
  list: boolean;
}

const references = routes.flatMap((route): Reference[] => {
  const shape = requestShape(schema, route);
  return (['query', 'body'] as const).flatMap((place) =>
    shape[place]
      // The id of a step is unique within its journey only.
      .filter(({ name, type }) => name !== 'step_id' && (/_ids?$/.test(name) || /^\[?ID\b/.test(String(type))))
      .map(({ name, type }) => ({ route, place, name, list: String(type).startsWith('[') })),
  );
});

describe("another project's row can't be accessed through a body or a query either", () => {
  test.each(references.map((each): [string, Reference] => [`${nameOf(each.route)} ${each.name}`, each]))(
    '%s',
    async (_name, { route, place, name, list }) => {
      const foreign = other.references[name];
      if (foreign === undefined) throw new Error(`Nothing is made for ${name}: add what it names to fixtures.ts.`);
      const before = await state(other);
      const path = own.fill(route.path) + (place === 'query' ? `?${name}=${foreign}` : '');
      const options = place === 'body' ? { body: { ...route.example, [name]: list ? [foreign] : foreign } } : {};
      const reply = await own.api.send(route.method, path, options);
      expect(reply.status).toBeLessThan(500);
      expect(JSON.stringify(reply.body.data ?? null)).not.toContain(foreign);
      expect(JSON.stringify(reply.body)).not.toContain(other.api.projectId);
      expect(await state(other)).toEqual(before);
    },
  );
});

test('lists show nothing of another project', async () => {
  const shown = JSON.stringify(await state(own));
  for (const id of Object.values(other.ids).filter((each) => each.includes('_'))) expect(shown).not.toContain(id);
});

test('after all of that, the other project is unchanged', async () => {
  const [fresh, now] = await Promise.all([everything().then(state), state(other)]);
  const shape = (lists: object[][]) => lists.map((list) => list.length);
  expect(shape(now)).toEqual(shape(fresh));
});
