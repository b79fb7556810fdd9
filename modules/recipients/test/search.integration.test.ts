import { inTransaction, pool, readSearchPage } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { recipientsSql, type Scope } from '../src/filter.ts';
import { candidatesSql, contactsWithAddressPart, type SearchLimits, searchRecipients } from '../src/search.ts';

/** A page reads one part of ten messages, and then what the index finds. */
const LIMITS: SearchLimits = { part: 10, candidates: 3, indexMs: 10_000, totalMs: 0 };

/** A paused campaign to 60 contacts: `reader1@…` to `reader60@…`, the first ones `gemma1@…` or `zora1@…`. */
async function campaignOf({ gemmas = 0, zoras = 0 }) {
  const api = await testApi();
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO campaigns (id, project_id, name, subject, status, frozen_at, started_at, recipient_count, cursor, bounced_count)
     VALUES (postroom_id('cmp'), $1, 'News', 'News', 'paused', now(), now(), 60, 'eml_z', 2) RETURNING id`,
    [api.projectId],
  );
  const campaignId = rows[0]?.id ?? '';
  for (let n = 1; n <= 60; n++) {
    const name = n <= gemmas ? `gemma${n}` : n <= gemmas + zoras ? `zora${n}` : `reader${n}`;
    await pool.query(
      `WITH c AS (INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
         VALUES (postroom_id('ctc'), $1, $3, $3, '', 'api', now()) RETURNING id)
       INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at, bounced_at)
       SELECT postroom_id('eml'), $1, $2, id, $3, 'accepted', now(), CASE WHEN $4 THEN now() END FROM c`,
      [api.projectId, campaignId, `the.${name}@mail.test`, n === 1 || n === 60],
    );
  }
  return { api, campaignId };
}

/** Follows the pages of a search: what each has, and whether there is a next one. */
async function pagesOf(
  { api, campaignId }: { api: Api; campaignId: string },
  filter: Parameters<typeof recipientsSql>[1],
  limits: Partial<SearchLimits> = {},
): Promise<string[][]> {
  const read = async (scope: Scope, limit: number) => {
    const { from, parameters } = recipientsSql(campaignId, filter, scope);
    const text = `SELECT m.id, m.email ${from} ORDER BY m.id DESC LIMIT ${limit}`;
    return (await pool.query<{ id: string; email: string }>(text, parameters.values)).rows;
  };
  const search = { projectId: api.projectId, campaignId, filter, limits: { ...LIMITS, ...limits } };
  const pages: string[][] = [];
  for (let after: string | null | undefined; after !== null;) {
    const { edges, pageInfo } = await readSearchPage(
      'eml',
      { first: 5, after },
      (page) => searchRecipients(search, page, read),
      async () => 0,
    );
    pages.push(edges.map(({ node }) => node.email.slice('the.'.length, -'@mail.test'.length)));
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  }
  return pages;
}

test('a rare part of an address is found on the first page, however old its messages', async () => {
  const campaign = await campaignOf({ gemmas: 3 });
  expect(await pagesOf(campaign, { search: ' GEMMA' })).toEqual([['gemma3', 'gemma2', 'gemma1']]);
  expect(await pagesOf(campaign, { search: 'nobody' })).toEqual([[]]);
});

test('pages of a search end after a part, and all together have every recipient once', async () => {
  const campaign = await campaignOf({ gemmas: 12 });
  const pages = await pagesOf(campaign, { search: 'gemma' });
  expect(pages).toEqual([
    [],
    [],
    [],
    [],
    ['gemma12', 'gemma11'],
    ['gemma10', 'gemma9', 'gemma8', 'gemma7', 'gemma6'],
    ['gemma5', 'gemma4', 'gemma3', 'gemma2', 'gemma1'],
  ]);
  const readers = await pagesOf(campaign, { search: 'reader' });
  expect(readers.flat()).toEqual(Array.from({ length: 48 }, (_, at) => `reader${60 - at}`));
});

test('a page goes on while there is time', async () => {
  const campaign = await campaignOf({ gemmas: 12 });
  const [first] = await pagesOf(campaign, { search: 'gemma' }, { totalMs: 10_000 });
  expect(first).toEqual(['gemma12', 'gemma11', 'gemma10', 'gemma9', 'gemma8']);
});

test('the index of contacts is given up after its time, and one or two letters are not looked up', async () => {
  const { api } = await campaignOf({ gemmas: 1 });
  const look = (text: string, timeoutMs: number) =>
    contactsWithAddressPart(api.projectId, text, { limit: 1, timeoutMs });
  expect(await look('gemma', 10_000)).toHaveLength(1);
  expect(await look('reader', 10_000)).toBeUndefined();
  expect(await look('ge', 10_000)).toBeUndefined();
  await inTransaction(async (tx) => {
    await tx.query('LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE');
    expect(await look('gemma', 20)).toBeUndefined();
  });
});

test('recipients whose contact is gone or has another address are found by the beginning of theirs', async () => {
  const campaign = await campaignOf({ gemmas: 2, zoras: 1 });
  const { projectId } = campaign.api;
  await pool.query(`DELETE FROM contacts WHERE project_id = $1 AND email LIKE '%gemma1@%'`, [projectId]);
  await pool.query(
    `UPDATE contacts SET email = 'new@mail.test', email_key = 'new@mail.test' WHERE project_id = $1 AND email LIKE '%zora%'`,
    [projectId],
  );
  expect(await pagesOf(campaign, { search: 'the.gemma' })).toEqual([['gemma2', 'gemma1']]);
  expect(await pagesOf(campaign, { search: 'the.zora' })).toEqual([['zora3']]);
  expect(await pagesOf(campaign, { search: 'gemma' })).toEqual([['gemma2']]);
  expect(await pagesOf(campaign, { search: 'new@' })).toEqual([[]]);
});

test('a search among rare outcomes reads only those', async () => {
  const campaign = await campaignOf({ gemmas: 12 });
  expect(await pagesOf(campaign, { search: 'gemma', outcome: 'bounced' })).toEqual([['gemma1']]);
  expect(await pagesOf(campaign, { search: 'gemma', outcome: 'bounced', bounceClass: 'soft' })).toEqual([[]]);
  expect(await pagesOf(campaign, { search: 'gemma', state: 'failed' })).toEqual([[]]);
});

test('a search reads indexes only: by the contact, by the beginning of the address, and a range of ids', async () => {
  const { api, campaignId } = await campaignOf({ gemmas: 1 });
  // As many as the planner needs to prefer these indexes to reading the campaign.
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email)
     SELECT postroom_id('eml'), $1, $2, postroom_id('ctc'), 'other' || n || '@mail.test' FROM generate_series(1, 5000) n`,
    [api.projectId, campaignId],
  );
  await pool.query('ANALYZE messages');
  const planOf = async (text: string, values: unknown[]) =>
    inTransaction(async (tx) => {
      await tx.query('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
      const { rows } = await tx.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
  const { text, values } = candidatesSql(campaignId, { contactIds: ['ctc_1', 'ctc_2'], search: 'the.gem', limit: 3 });
  const plan = await planOf(text, values);
  expect(plan).toMatch(/Index Cond: \(\(contact_id = ANY .* AND \(campaign_id = /);
  expect(plan).toMatch(/Index Cond: \(\(campaign_id = .* >= 'the\.gem'::text\) AND .* < 'the\.gen'::text\)/);
  const { from, parameters } = recipientsSql(campaignId, { search: 'gem' }, { from: 'eml_1', before: 'eml_2' });
  const walk = await planOf(`SELECT m.email ${from} ORDER BY m.id DESC LIMIT 51`, parameters.values);
  expect(walk).toMatch(/Index Cond: .*\(id >= 'eml_1'::text\) AND \(id < 'eml_2'::text\)/);
});
