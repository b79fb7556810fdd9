import { config, inTransaction, newId, pool } from '@postroom/platform';
import { createApiKey } from '@postroom/projects';
import { type Api, type SignedIn, signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

/** How many requests arrive at once. */
const REQUESTS = 8;

interface Limited {
  /** Inserts all but one of the rows that the limit allows. */
  fill: (projectId: string, rows: number, owner: SignedIn) => Promise<unknown>;
  max: number;
  /** Locks rows, so that what is created does not end meanwhile. */
  lock?: string;
  /** Creates one row; returns whether it was created. */
  create: (api: Api, number: number, owner: SignedIn) => Promise<boolean>;
}

const post =
  (path: string, body: (number: number) => object) =>
  async (api: Api, number: number): Promise<boolean> =>
    (await api.post(path, body(number))).status === 201;

const mutation =
  (field: (number: number) => string) =>
  async (_api: Api, number: number, owner: SignedIn): Promise<boolean> =>
    (await owner.graphql(`mutation { ${field(number)} }`)).body.errors === undefined;

/** Inserts rows with the given columns besides `id` and `project_id`; `i` is the number of the row. */
const rows = (table: string, prefix: string, columns: Record<string, string>) => (projectId: string, count: number) =>
  pool.query(
    `INSERT INTO ${table} (id, project_id, ${Object.keys(columns).join(', ')})
     SELECT postroom_id('${prefix}'), $1, ${Object.values(columns).join(', ')} FROM generate_series(1, $2::int) i`,
    [projectId, count],
  );

const ADA = {
  email: `'a@example.com'`,
  email_key: `'a@example.com'`,
  name: `'a'`,
  source: `'api'`,
  updated_at: 'now()',
};

const LIMITS: Record<string, Limited> = {
  'custom fields': {
    max: 200,
    fill: rows('custom_fields', 'fld', { key: `'k' || i`, label: `'k'`, type: `'text'` }),
    create: post('/v1/custom-fields', (number) => ({ key: `new${number}`, label: 'New', type: 'text' })),
  },
  segments: {
    max: 100,
    fill: rows('segments', 'seg', {
      name: `'s' || i`,
      filter: `'{"field": "email", "op": "contains", "value": "a"}'`,
      updated_at: 'now()',
    }),
    create: post('/v1/segments', (number) => ({
      name: `New ${number}`,
      filter: { field: 'email', op: 'contains', value: 'a' },
    })),
  },
  'webhook endpoints': {
    max: 200,
    fill: rows('webhook_endpoints', 'whe', {
      url: `'https://example.com/' || i`,
      secret: `''`,
      enabled: 'false',
      updated_at: 'now()',
    }),
    create: post('/v1/webhooks', (number) => ({ url: `https://example.com/new/${number}`, events: ['webhook.test'] })),
  },
  groups: {
    max: 5_000,
    fill: async (projectId, count) => {
      await rows('contacts', 'ctc', ADA)(projectId, 1);
      await rows('groups', 'grp', { name: `'g' || i` })(projectId, count);
    },
    create: post('/v1/groups', (number) => ({ name: `New ${number}`, emails: ['a@example.com'] })),
  },
  templates: {
    max: 2_000,
    fill: rows('templates', 'tpl', { name: `'t' || i`, body: `''`, updated_at: 'now()' }),
    create: post('/v1/templates', (number) => ({ name: `New ${number}`, body: '<p>Hi</p>' })),
  },
  'campaigns that are drafts': {
    max: 2_000,
    fill: rows('campaigns', 'cmp', { name: `'c' || i`, updated_at: 'now()' }),
    create: post('/v1/campaigns', (number) => ({ name: `New ${number}` })),
  },
  'saved views of a user': {
    max: 50,
    fill: (projectId, count, { id }) =>
      rows('contact_views', 'cvw', { user_id: `'${id}'`, name: `'v' || i`, search: `'{}'` })(projectId, count),
    create: mutation((number) => `createContactView(input: { name: "New ${number}", search: {} }) { viewId }`),
  },
  'mail providers': {
    max: 50,
    fill: rows('mail_providers', 'prv', {
      name: `'p' || i`,
      kind: `'smtp'`,
      settings: `'{}'`,
      token: `'t' || i || $1`,
    }),
    create: mutation(
      (number) => `createMailProvider(input: { name: "P${number}", smtp: { host: "mail.example.com" } }) { id }`,
    ),
  },
  'API keys': {
    max: 200,
    // The project has the key of the test.
    fill: async (projectId, count) => {
      for (let i = 1; i < count; i++) await createApiKey({ name: `Key ${i}`, scope: 'sending', projects: [projectId] });
    },
    create: async (api, number, owner) => {
      const input = { name: `New ${number}`, scope: 'sending', projectIds: [api.projectId] };
      const { body } = await owner.graphql(
        'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { key } }',
        { input },
      );
      return body.errors === undefined;
    },
  },
  'sending domains': {
    max: 200,
    fill: rows('domains', 'dom', { domain: `'d' || i || '.example'`, region: `'local'`, records: `'[]'` }),
    create: mutation((number) => `addDomain(input: { domain: "new${number}.example" }) { id }`),
  },
  'open imports': {
    max: config.IMPORTS_PER_PROJECT,
    fill: rows('imports', 'imp', {
      status: `'uploading'`,
      on_conflict: `'skip'`,
      dry_run: 'false',
      create_fields: 'false',
    }),
    create: async (api) => {
      const { body } = await api.graphql('mutation { createImport(input: {}) { id } }');
      return body.errors === undefined;
    },
  },
  'running bulk operations': {
    max: 3,
    lock: 'SELECT FROM contacts WHERE project_id = $1 FOR UPDATE',
    fill: async (projectId, count) => {
      await rows('contacts', 'ctc', ADA)(projectId, 1);
      await pool.query(
        `INSERT INTO bulk_operations (id, project_id, actor_id, action, filter, total, cursor)
         SELECT postroom_id('blk'), $1, $3, 'unsubscribe', '{}', 1, 'ctc_' FROM generate_series(1, $2::int)`,
        [projectId, count, newId('usr')],
      );
    },
    create: post('/v1/bulk-operations', () => ({ action: 'unsubscribe', filter: {} })),
  },
};

test.each(Object.entries(LIMITS))('concurrent requests do not exceed the limit of %s', async (_name, limited) => {
  const api = await testApi();
  const owner = await signedIn(api);
  await limited.fill(api.projectId, limited.max - 1, owner);
  const created = await inTransaction(async (tx) => {
    if (limited.lock !== undefined) await tx.query(limited.lock, [api.projectId]);
    return Promise.all(Array.from({ length: REQUESTS }, (_, number) => limited.create(api, number, owner)));
  });
  expect(created.filter(Boolean)).toHaveLength(1);
});
