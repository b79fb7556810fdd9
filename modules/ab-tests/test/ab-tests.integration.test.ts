import { config, pool, sql } from '@postroom/platform';
import { type Api, interleave, testApi } from '@postroom/testkit';
import { describe, expect, test } from 'vitest';
// The start of a scheduled campaign and the snapshot of recipients are activities of campaigns, which no worker runs here.
import { startScheduled } from '../../campaigns/src/sending.ts';
import { snapshotRecipients } from '../../campaigns/src/snapshot-recipients.ts';
import { endIfDue, endTimersAfterRestore } from '../src/ab-tests.ts';
import { watchAbTest } from '../src/progress.ts';
import { CAMPAIGN, created, fieldsOf, projectWith } from './support.ts';

const create = (api: Api, campaign: string, settings: object = {}) =>
  created(api, '/v1/ab-tests', { campaign_id: campaign, ...settings });

/** A test that was started. */
async function started(contacts: number, settings: object = {}) {
  const { api, group, campaign } = await projectWith(contacts);
  const { id, variantIds: variants } = await create(api, campaign, settings);
  const reply = await api.post(`/v1/ab-tests/${id}/start`);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return { api, group, id: id as string, variants: variants as string[], path: `/v1/ab-tests/${id}` };
}

const read = async (api: Api, path: string) => (await api.get(path)).body.data;

/** The ids of contacts with a message of a campaign. */
async function recipientsOf(campaign: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('SELECT contact_id AS id FROM messages WHERE campaign_id = $1', [
    campaign,
  ]);
  return rows.map(({ id }) => id);
}

/** The events of the end of a test. */
const endsOf = async (api: Api, id: string) =>
  (await api.events()).filter(({ type, data }) => type.startsWith('ab_test.') && data['ab_test_id'] === id);

const isEnding = (id: string) => pool.query('UPDATE ab_tests SET ends_at = now() WHERE id = $1', [id]);
const count = (campaign: string, counts: { accepted: number; opened?: number; clicked?: number }) =>
  pool.query('UPDATE campaigns SET accepted_count = $2, opened_count = $3, clicked_count = $4 WHERE id = $1', [
    campaign,
    counts.accepted,
    counts.opened ?? 0,
    counts.clicked ?? 0,
  ]);
const setFinal = async (api: Api, path: string) => {
  const { finalCampaignId: final } = await read(api, path);
  await pool.query("UPDATE campaigns SET status = 'sending' WHERE id = $1", [final]);
  return final as string;
};

describe('a test', () => {
  test('is made from a draft, which becomes its first variant; the others are copies with the same audience', async () => {
    const { api, group, campaign } = await projectWith(1);
    const made = await create(api, campaign, { variants: 3, metric: 'clicks' });
    expect(made).toMatchObject({
      status: 'draft',
      samplePercent: 20,
      metric: 'clicks',
      durationHours: 24,
      leaderId: null,
      variants: [
        { label: 'A', rate: null, campaign: { id: campaign, name: 'News' } },
        { label: 'B', campaign: { name: 'News (B)', subject: 'News' } },
        { label: 'C', campaign: { name: 'News (C)' } },
      ],
    });
    for (const id of made.variantIds)
      expect(await read(api, `/v1/campaigns/${id}`)).toMatchObject({
        groupIds: [group],
        html: CAMPAIGN.html,
        abTestId: made.id,
      });
    expect((await api.get('/v1/ab-tests')).body.data).toMatchObject([{ id: made.id }]);
  });

  test('has as many variants as its settings say', async () => {
    const { api, campaign } = await projectWith(1);
    const { id, variantIds: before } = await create(api, campaign);
    const patch = async (body: object) => (await api.patch(`/v1/ab-tests/${id}`, body)).body.data;
    const more = await patch({ variants: 4 });
    expect(more.variants.map(({ campaign: { name } }: { campaign: { name: string } }) => name)).toEqual([
      'News',
      'News (B)',
      'News (C)',
      'News (D)',
    ]);
    expect((await patch({ variants: 2, sample_percent: 50 })).variantIds).toEqual(before);
    expect((await api.get(`/v1/campaigns/${more.variantIds[3]}`)).status).toBe(404);
    expect((await api.patch(`/v1/ab-tests/${id}`, { duration_hours: 3, version: 1 })).status).toBe(409);
  });

  test('keeps the variants that an edit names, and copies go by their new letters', async () => {
    const { api, campaign } = await projectWith(1);
    const { id, variantIds } = await create(api, campaign, { variants: 4 });
    const [a, b, c, d] = variantIds;
    await api.patch(`/v1/campaigns/${d}`, { name: 'My own (D) name' });
    const patch = (body: object) => api.patch(`/v1/ab-tests/${id}`, body);
    const namesOf = ({ body }: { body: { data: { variants: { campaign: { name: string } }[] } } }) =>
      body.data.variants.map(({ campaign: { name } }) => name);
    const without = await patch({ variant_ids: [a, c, d] });
    expect(without.body.data.variantIds).toEqual([a, c, d]);
    expect(namesOf(without)).toEqual(['News', 'News (B)', 'My own (D) name']);
    expect((await api.get(`/v1/campaigns/${b}`)).status).toBe(404);
    const first = await patch({ variant_ids: [c], variants: 2 });
    expect(first.body.data.variantIds).toEqual([c, expect.any(String)]);
    expect(namesOf(first)).toEqual(['News', 'News (B)']);

    for (const wrong of [[c], [], [c, c], [c, a], [c, 'cmp_1']]) {
      const refused = await patch({ variant_ids: wrong });
      expect([refused.status, fieldsOf(refused)], JSON.stringify(wrong)).toEqual([400, ['variant_ids']]);
    }
  });

  test.each([
    ['variants', 1],
    ['variants', 6],
    ['sample_percent', 0],
    ['sample_percent', 101],
    ['duration_hours', 0],
    ['duration_hours', 169],
    ['metric', 'sales'],
  ])('with a value out of range is a validation_error that names the field: %s, here %j', async (field, value) => {
    const { api, campaign } = await projectWith(1);
    const reply = await api.post('/v1/ab-tests', { campaign_id: campaign, [field]: value });
    expect([reply.status, fieldsOf(reply)]).toEqual([400, [field]]);
    const { id } = await create(api, campaign);
    const change = await api.patch(`/v1/ab-tests/${id}`, { [field]: value });
    expect([change.status, fieldsOf(change)]).toEqual([400, [field]]);
  });

  test('needs a draft that belongs to no other test, even when two are made at once', async () => {
    const { api, campaign } = await projectWith(1);
    const replies = await Promise.all([1, 2, 3].map(() => api.post('/v1/ab-tests', { campaign_id: campaign })));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect((await api.get('/v1/campaigns?total=true')).body.total).toBe(2);
  });

  test('leaves its first variant as an ordinary draft when it is deleted', async () => {
    const { api, campaign } = await projectWith(1);
    const { id, variantIds: variants } = await create(api, campaign);
    expect((await api.delete(`/v1/ab-tests/${id}`)).status).toBe(200);
    expect(await read(api, `/v1/campaigns/${campaign}`)).toMatchObject({ abTestId: null });
    expect((await api.get(`/v1/campaigns/${variants[1]}`)).status).toBe(404);
    expect((await api.post(`/v1/campaigns/${campaign}/send`)).status).toBe(202);
  });

  test('belongs to one project', async () => {
    const { api, campaign } = await projectWith(1);
    const { id } = await create(api, campaign);
    const other = await testApi();
    expect((await other.post('/v1/ab-tests', { campaign_id: campaign })).status).toBe(404);
    expect((await other.post(`/v1/ab-tests/${id}/start`)).status).toBe(404);
    expect((await other.get('/v1/ab-tests')).body.data).toEqual([]);
  });
});

describe('a campaign of a test', () => {
  test('cannot be sent, scheduled or deleted by itself', async () => {
    const { api, campaign } = await projectWith(1);
    await create(api, campaign);
    const path = `/v1/campaigns/${campaign}`;
    const later = { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() };
    for (const reply of [await api.post(`${path}/send`), await api.post(`${path}/schedule`, later)])
      expect([reply.status, reply.body.error.message]).toEqual([
        409,
        'This campaign belongs to an A/B test, which sends it.',
      ]);
    expect((await api.delete(path)).status).toBe(409);
    expect((await api.post(`${path}/preflight`)).body.data).toMatchObject({
      isReady: false,
      problems: [{ field: 'status' }],
    });
  });

  test('shares its audience with the others, and has its own content', async () => {
    const { api, group, campaign } = await projectWith(1);
    const { variantIds: variants } = await create(api, campaign);
    const other = await created(api, '/v1/groups', {
      name: 'Staff',
      contact_ids: [(await api.contact('staff@mail.test')).id],
    });
    await api.patch(`/v1/campaigns/${variants[1]}`, { subject: 'Other', excluded_group_ids: [other.id] });
    expect(await read(api, `/v1/campaigns/${variants[0]}`)).toMatchObject({
      subject: 'News',
      groupIds: [group],
      excludedGroupIds: [other.id],
      version: 2,
    });
    // As the editor saves it, with the audience as it is.
    await api.patch(`/v1/campaigns/${variants[1]}`, { subject: 'Third', excluded_group_ids: [other.id] });
    expect(await read(api, `/v1/campaigns/${variants[0]}`)).toMatchObject({ subject: 'News', version: 2 });
  });

  test('that is added while the audience is edited has the new one', async () => {
    const { api, campaign } = await projectWith(1);
    const { id } = await create(api, campaign);
    const other = await created(api, '/v1/groups', {
      name: 'Staff',
      contact_ids: [(await api.contact('staff@mail.test')).id],
    });
    const [added, edited] = await Promise.all([
      api.patch(`/v1/ab-tests/${id}`, { variants: 5 }),
      api.patch(`/v1/campaigns/${campaign}`, { group_ids: [other.id] }),
    ]);
    expect([added.status, edited.status]).toEqual([200, 200]);
    for (const variant of added.body.data.variantIds)
      expect(await read(api, `/v1/campaigns/${variant}`)).toMatchObject({ groupIds: [other.id] });
  });

  test('that is edited while the test is being started is checked again', async () => {
    const { api, campaign } = await projectWith(1);
    const { id, variantIds: variants } = await create(api, campaign);
    const reply = await interleave(
      (tx) => sql(tx, 'SELECT FROM campaigns WHERE id = $1 FOR UPDATE', [variants[1]]),
      () => api.post(`/v1/ab-tests/${id}/start`),
      (tx) =>
        sql(tx, `UPDATE campaigns SET subject = NULL, updated_at = now() + interval '1 second' WHERE id = $1`, [
          variants[1],
        ]),
    );
    expect([reply.status, fieldsOf(reply)]).toEqual([400, ['variants.1.subject']]);
    expect(await read(api, `/v1/ab-tests/${id}`)).toMatchObject({ status: 'draft', startedAt: null });
    expect(await read(api, `/v1/campaigns/${campaign}`)).toMatchObject({ status: 'draft' });
  });
});

describe('start', () => {
  test('of a version is a conflict if the settings were changed since', async () => {
    const { api, campaign } = await projectWith(3);
    const { id, version } = await create(api, campaign, { metric: 'opens' });
    await api.patch(`/v1/ab-tests/${id}`, { duration_hours: 5 });
    const start = async (given: number) =>
      (
        await api.graphql('mutation ($id: ID!, $version: Int) { startAbTest(id: $id, version: $version) { status } }', {
          id,
          version: given,
        })
      ).body;
    expect(await start(version)).toMatchObject({
      errors: [{ extensions: { code: 'conflict', details: [{ field: 'version' }] } }],
    });
    expect(await start(version + 1)).toEqual({ data: { startAbTest: { status: 'testing' } } });
  });

  test('of variants of a version is a conflict if one of them was edited since', async () => {
    const { api, campaign } = await projectWith(3);
    const { id, variantIds: variants } = await create(api, campaign);
    await api.patch(`/v1/campaigns/${variants[1]}`, { subject: 'Other news' });
    const start = async (variantVersions: number[]) => {
      const document = 'mutation ($id: ID!, $v: [Int!]) { startAbTest(id: $id, variantVersions: $v) { status } }';
      return (await api.graphql(document, { id, v: variantVersions })).body;
    };
    const refusal = (code: string, field: string) => ({ errors: [{ extensions: { code, details: [{ field }] } }] });
    expect(await start([1])).toMatchObject(refusal('validation_error', 'variantVersions'));
    expect(await start([1, 1])).toMatchObject(refusal('conflict', 'variantVersions.1'));
    expect(await start([1, 2])).toEqual({ data: { startAbTest: { status: 'testing' } } });
    expect(await start([1])).toMatchObject(refusal('validation_error', 'variantVersions'));
    expect(await start([1, 2])).toMatchObject({ errors: [{ extensions: { code: 'conflict' } }] });
  });

  test('names the variant that cannot be sent, and the field', async () => {
    const { api, campaign } = await projectWith(1);
    const { id, variantIds: variants } = await create(api, campaign, { metric: 'clicks' });
    const start = () => api.post(`/v1/ab-tests/${id}/start`);
    await api.patch(`/v1/campaigns/${variants[1]}`, { html: null });
    const incomplete = await start();
    expect([incomplete.status, fieldsOf(incomplete)]).toEqual([400, ['variants.1.html']]);
    expect(incomplete.body.error.message).toBe('Variant B: The campaign is incomplete: html.');
    await api.patch(`/v1/campaigns/${variants[1]}`, { html: 'Hi', from_email: 'me@other.example' });
    const forbidden = await start();
    expect([forbidden.status, forbidden.body.error.message]).toEqual([403, expect.stringMatching(/^Variant B: /)]);
    await api.patch(`/v1/campaigns/${variants[1]}`, { from_email: 'news@example.com', track_clicks: false });
    const untracked = await start();
    expect([untracked.status, fieldsOf(untracked)]).toEqual([400, ['variants.1.track_clicks']]);
  });

  test('is a conflict while a variant is missing, until there are fewer variants', async () => {
    const { api, campaign } = await projectWith(1);
    const { id, variantIds: variants } = await create(api, campaign, { variants: 3 });
    await pool.query('DELETE FROM campaigns WHERE id = $1', [variants[2]]);
    const start = () => api.post(`/v1/ab-tests/${id}/start`);
    const refused = await start();
    expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('no longer exists')]);
    expect((await api.patch(`/v1/ab-tests/${id}`, { variants: 2 })).status).toBe(200);
    expect((await start()).status).toBe(200);
  });

  test('sends a copy of another variant after a change of a test whose first variant is missing', async () => {
    const { api, campaign } = await projectWith(1);
    const { id, variantIds: variants } = await create(api, campaign);
    await pool.query('DELETE FROM campaigns WHERE id = $1', [variants[0]]);
    const changed = await api.patch(`/v1/ab-tests/${id}`, { duration_hours: 3 });
    expect([changed.status, changed.body.data.variantIds]).toEqual([200, [variants[1], expect.any(String)]]);
    expect((await api.post(`/v1/ab-tests/${id}/start`)).status).toBe(200);
  });

  test('is not what a test without variants can do, nor a change: it can be deleted', async () => {
    const { api, campaign } = await projectWith(1);
    const { id, variantIds: variants } = await create(api, campaign);
    await pool.query('DELETE FROM campaigns WHERE id = ANY ($1)', [variants]);
    const changed = await api.patch(`/v1/ab-tests/${id}`, { variants: 3 });
    expect([changed.status, changed.body.error.message]).toEqual([409, expect.stringContaining('Delete the test')]);
    expect((await api.delete(`/v1/ab-tests/${id}`)).status).toBe(200);
  });

  test('gives each variant its own part of the sample, and together all of it', async () => {
    const { variants } = await started(2_000, { variants: 3, sample_percent: 100 });
    const parts = [];
    for (const id of variants) {
      // Ranges of ids must not matter.
      await snapshotRecipients(id, { rangeSize: 300 });
      parts.push(await recipientsOf(id));
    }
    expect(new Set(parts.flat()).size).toBe(2_000);
    expect(parts.flat()).toHaveLength(2_000);
    // 667 of 2,000 on average; six standard deviations are 126.
    for (const part of parts) expect(Math.abs(part.length - 667)).toBeLessThan(126);
  });

  test('compares no variant with another one of the test', async () => {
    const { api, campaign } = await projectWith(10);
    const earlier = await created(api, '/v1/campaigns', { name: 'Earlier' });
    const { id, variantIds } = await create(api, campaign);
    await pool.query(
      `UPDATE campaigns SET status = 'completed', started_at = now() - interval '1 day', recipient_count = 5 WHERE id = $1`,
      [earlier.id],
    );
    expect((await api.post(`/v1/ab-tests/${id}/start`)).status).toBe(200);
    await pool.query(
      `UPDATE campaigns SET recipient_count = 5, started_at = now() + interval '1 second' * array_position($1, id)
       WHERE id = ANY ($1)`,
      [variantIds],
    );
    const PREVIOUS = 'query ($id: ID!) { previousCampaign(id: $id) { name } }';
    for (const variant of variantIds) {
      const { body } = await api.graphql(PREVIOUS, { id: variant });
      expect(body.data.previousCampaign).toEqual({ name: 'Earlier' });
    }
  });

  test('of two at once, one starts the test', async () => {
    const { api, campaign } = await projectWith(1);
    const { id } = await create(api, campaign);
    const replies = await Promise.all([1, 2, 3].map(() => api.post(`/v1/ab-tests/${id}/start`)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await api.patch(`/v1/ab-tests/${id}`, { variants: 3 })).status).toBe(409);
    expect((await api.delete(`/v1/ab-tests/${id}`)).status).toBe(409);
  });
});

describe('the end of a test', () => {
  test('never sends a variant that was canceled, and cancels a test whose variants all were', async () => {
    const { api, id, variants, path } = await started(20, { sample_percent: 40 });
    await count(variants[0]!, { accepted: 4, opened: 4 });
    await count(variants[1]!, { accepted: 4, opened: 1 });
    expect((await api.post(`/v1/campaigns/${variants[0]}/cancel`)).status).toBe(200);
    expect((await read(api, path)).leaderId).toBe(variants[1]);
    const other = await started(20, { sample_percent: 40 });
    for (const variant of other.variants)
      expect((await other.api.post(`/v1/campaigns/${variant}/cancel`)).status).toBe(200);
    for (const test of [id, other.id]) {
      await isEnding(test);
      expect(await endIfDue(test)).toBeNull();
    }
    expect(await read(api, path)).toMatchObject({ status: 'completed', winnerId: variants[1] });
    expect(await read(other.api, other.path)).toMatchObject({
      status: 'canceled',
      winnerId: null,
      finalCampaignId: null,
    });
    expect(await endsOf(api, id)).toMatchObject([{ type: 'ab_test.completed', data: { chosen_by: 'metric' } }]);
    expect(await endsOf(other.api, other.id)).toMatchObject([{ type: 'ab_test.canceled' }]);
  });

  test('waits while sending is held, and after a restore for a user, who may choose or cancel', async () => {
    const { api, id, variants, path } = await started(20, { sample_percent: 40 });
    await isEnding(id);
    config.HOLD_SENDING = true;
    try {
      expect(await endIfDue(id)).toBe(60_000);
    } finally {
      config.HOLD_SENDING = false;
    }
    expect(await endTimersAfterRestore()).toBeGreaterThan(0);
    expect(await endIfDue(id)).toBeNull();
    expect(await read(api, path)).toMatchObject({ status: 'testing', endsAt: null });
    expect((await api.post(`${path}/choose-winner`, { campaign_id: variants[1] })).body.data).toMatchObject({
      status: 'completed',
      winnerId: variants[1],
      decision: null,
    });
  });

  test('sends the variant with the best rate to everyone who has no message of the test, also to who joined meanwhile', async () => {
    const { api, group, id, variants, path } = await started(1_000, { sample_percent: 40 });
    for (const variant of variants) await snapshotRecipients(variant);
    const tested = (await Promise.all(variants.map(recipientsOf))).flat();
    await count(variants[0]!, { accepted: 200, opened: 50 });
    await count(variants[1]!, { accepted: 100, opened: 26 });
    const joined = await api.contact('joined@mail.test');
    // Someone who got a message is deleted and added again.
    const { rows } = await pool.query<{ email: string }>(`DELETE FROM contacts WHERE id = $1 RETURNING email`, [
      tested[0],
    ]);
    const again = await api.contact(rows[0]!.email);
    await api.post(`/v1/groups/${group}/contacts`, { contact_ids: [joined.id, again.id] });

    expect(await endIfDue(id)).toBeGreaterThan(86_000_000);
    await isEnding(id);
    expect(await endIfDue(id)).toBeNull();
    const ended = await read(api, path);
    expect(ended).toMatchObject({
      status: 'completed',
      winnerId: variants[1],
      chosenById: null,
      decision: 'best_rate',
    });
    const final = await setFinal(api, path);
    expect(await read(api, `/v1/campaigns/${final}`)).toMatchObject({
      name: 'News (B) (winner)',
      abTestId: id,
      groupIds: [group],
    });
    await snapshotRecipients(final, { rangeSize: 300 });
    const rest = await recipientsOf(final);
    expect(rest).toContain(joined.id);
    expect(rest).not.toContain(again.id);
    expect(rest.filter((contact) => tested.includes(contact))).toEqual([]);
    expect(rest).toHaveLength(1_000 - tested.length + 1);
  });

  test('leaves out the whole share of a variant whose messages do not tell who got one', async () => {
    const { api, variants, path } = await started(1_000, { sample_percent: 40 });
    const [counting, deleted] = variants as [string, string];
    await snapshotRecipients(counting, { isFirst: true, rangeSize: 100 });
    await snapshotRecipients(deleted);
    await api.post(`${path}/choose-winner`, { campaign_id: counting });
    await pool.query('UPDATE campaigns SET recipients_deleted_at = now() WHERE id = $1', [deleted]);
    const ofDeleted = await recipientsOf(deleted);
    await pool.query('DELETE FROM messages WHERE campaign_id = $1', [deleted]);
    const final = await setFinal(api, path);
    await snapshotRecipients(final);
    await snapshotRecipients(counting);
    const all = [...(await recipientsOf(final)), ...(await recipientsOf(counting)), ...ofDeleted];
    expect([all.length, new Set(all).size]).toEqual([1_000, 1_000]);
  });

  test('is decided by clicks if the settings say so; the first of equal variants wins', async () => {
    const { api, id, variants, path } = await started(10, { variants: 3, metric: 'clicks' });
    await count(variants[1]!, { accepted: 10, clicked: 5, opened: 5 });
    await count(variants[2]!, { accepted: 20, clicked: 10, opened: 20 });
    expect(await read(api, path)).toMatchObject({ leaderId: variants[1], variants: [{}, { rate: 0.5 }, {}] });
    await isEnding(id);
    await endIfDue(id);
    expect(await read(api, path)).toMatchObject({ winnerId: variants[1], decision: 'tie' });
  });

  test('without any accepted message, or without any opens, sends the first variant', async () => {
    const { api, id, variants, path } = await started(10);
    await isEnding(id);
    await endIfDue(id);
    const first = { winnerId: variants[0], decision: 'no_reactions' };
    expect(await read(api, path)).toMatchObject({ leaderId: null, ...first });
    const unopened = await started(10);
    await count(unopened.variants[0]!, { accepted: 5 });
    await count(unopened.variants[1]!, { accepted: 4 });
    await isEnding(unopened.id);
    await endIfDue(unopened.id);
    const { winnerId, decision } = await read(unopened.api, unopened.path);
    expect([winnerId, decision]).toEqual([unopened.variants[0], 'no_reactions']);
  });

  test('with everyone in the sample only chooses the winner', async () => {
    const { api, id, variants, path } = await started(10, { sample_percent: 100 });
    await isEnding(id);
    await endIfDue(id);
    expect(await read(api, path)).toMatchObject({ winnerId: variants[0], finalCampaignId: null });
    expect((await api.get('/v1/campaigns?total=true')).body.total).toBe(2);
  });

  test('whose group was deleted meanwhile can be sent to another audience, and is otherwise sent as it was tested', async () => {
    const { api, group, variants, path } = await started(3);
    await api.post(`${path}/choose-winner`, { campaign_id: variants[0] });
    const { finalCampaignId: final } = await read(api, path);
    const other = await created(api, '/v1/groups', { name: 'Others', emails: ['first@mail.test'] });
    await api.delete(`/v1/groups/${group}`);
    const { scheduledAt } = await read(api, `/v1/campaigns/${final}`);
    expect(await startScheduled(final, new Date(scheduledAt))).toBe('paused');

    const refused = await api.post(`/v1/campaigns/${final}/resume`);
    expect([refused.status, fieldsOf(refused)]).toEqual([400, ['group_ids.0']]);
    const unscheduled = await api.post(`/v1/campaigns/${final}/unschedule`);
    expect([unscheduled.status, unscheduled.body.error.message]).toEqual([409, expect.stringContaining('audience')]);
    const change = (body: object) => api.patch(`/v1/campaigns/${final}`, body);
    const content = await change({ subject: 'Untested', group_ids: [other.id] });
    expect([content.status, content.body.error.message]).toEqual([409, expect.stringContaining('only the audience')]);
    expect((await change({ group_ids: [other.id], version: 7 })).body.error.details).toMatchObject([
      { field: 'version' },
    ]);
    expect((await change({ group_ids: [other.id] })).status).toBe(200);
    expect((await api.post(`/v1/campaigns/${final}/resume`)).body.data).toMatchObject({ status: 'sending' });
    // A campaign that has started keeps its audience.
    expect((await change({ group_ids: [other.id] })).status).toBe(409);
  });

  test('sends the template as it was tested', async () => {
    const { api, campaign } = await projectWith(10);
    const template = await created(api, '/v1/templates', { name: 'News', subject: 'News', body: '<p>Tested</p>' });
    await api.post(`/v1/templates/${template.id}/publish`);
    await api.patch(`/v1/campaigns/${campaign}`, { template_id: template.id });
    const { id } = await create(api, campaign);
    await api.post(`/v1/ab-tests/${id}/start`);
    const { templateVersion: tested } = await read(api, `/v1/campaigns/${campaign}`);
    await api.patch(`/v1/templates/${template.id}`, { body: '<p>Newer</p>' });
    await api.post(`/v1/templates/${template.id}/publish`);
    await isEnding(id);
    await endIfDue(id);
    const { finalCampaignId: final } = await read(api, `/v1/ab-tests/${id}`);
    // As after a pause that kept it from starting.
    await pool.query("UPDATE campaigns SET status = 'paused' WHERE id = $1", [final]);
    expect((await api.post(`/v1/campaigns/${final}/resume`)).body.data).toMatchObject({
      status: 'sending',
      html: '<p>Tested</p>',
      templateId: template.id,
      templateVersion: tested,
    });
  });
});

describe('progress', () => {
  test('is the test, and each change of it and of its campaigns, until all of them have ended', async () => {
    const { api, campaign } = await projectWith(10);
    const { id, variantIds: variants } = await create(api, campaign);
    const path = `/v1/ab-tests/${id}`;
    const states = watchAbTest(api.projectId, id);
    const next = async () => (await states.next()).value;
    expect(await next()).toMatchObject({ id, status: 'draft' });
    await api.patch(path, { sample_percent: 50 });
    expect(await next()).toMatchObject({ samplePercent: 50 });
    await api.post(`${path}/start`);
    expect(await next()).toMatchObject({ status: 'testing' });
    const paused = next();
    await api.post(`/v1/campaigns/${variants[1]}/pause`);
    expect(await paused).toMatchObject({ status: 'testing' });
    const ended = next();
    await api.post(`${path}/choose-winner`, { campaign_id: variants[0] });
    expect(await ended).toMatchObject({ status: 'completed', winnerId: variants[0] });
    const { finalCampaignId: final } = await read(api, path);
    for (const each of [...variants, final]) {
      const change = states.next();
      await api.post(`/v1/campaigns/${each}/cancel`);
      expect((await change).done).toBe(false);
    }
    expect((await states.next()).done).toBe(true);
  });

  test('ends with not_found once the test is deleted, and for another project', async () => {
    const { api, campaign } = await projectWith(1);
    const { id } = await create(api, campaign);
    const states = watchAbTest(api.projectId, id);
    await states.next();
    const last = states.next();
    await api.delete(`/v1/ab-tests/${id}`);
    await expect(last).rejects.toMatchObject({ code: 'not_found' });
    const other = await testApi();
    await expect(watchAbTest(other.projectId, id).next()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a user', () => {
  test('chooses the winner before the end, once', async () => {
    const { api, id, variants, path } = await started(10);
    const choose = (campaign: string) => api.post(`${path}/choose-winner`, { campaign_id: campaign });
    const wrong = await choose('cmp_01k9zq3v5re8rt5xw7m2n4p6q8');
    expect([wrong.status, fieldsOf(wrong)]).toEqual([400, ['campaign_id']]);
    const chosen = await choose(variants[1]!);
    expect(chosen.body.data).toMatchObject({
      status: 'completed',
      winnerId: variants[1],
      chosenById: expect.stringMatching(/^key_/),
    });
    const { body } = await api.graphql('query ($id: ID!) { abTest(id: $id) { chosenByName } }', { id });
    expect(body.data.abTest.chosenByName).toMatch(/./);
    expect((await choose(variants[0]!)).status).toBe(409);
    await isEnding(id);
    expect(await endIfDue(id)).toBeNull();
    const ended = await read(api, path);
    expect(ended.winnerId).toBe(variants[1]);
    const data = {
      ab_test_id: id,
      variant_ids: variants,
      winner_id: variants[1],
      chosen_by: 'api',
      final_campaign_id: ended.finalCampaignId,
    };
    expect(await endsOf(api, id)).toMatchObject([{ type: 'ab_test.completed', data }]);
  });

  test('who chooses while the time runs out gets this winner or the other one, and one campaign is sent', async () => {
    for (let round = 0; round < 5; round++) {
      const { api, id, variants, path } = await started(10);
      await isEnding(id);
      const choose = () => api.post(`${path}/choose-winner`, { campaign_id: variants[1] });
      const [first, , second] = await Promise.all([choose(), endIfDue(id), choose(), endIfDue(id)]);
      const won = [first, second].filter(({ status }) => status === 200);
      const ended = await read(api, path);
      expect(ended.winnerId).toBe(variants[won.length]);
      const { rows } = await pool.query('SELECT id FROM campaigns WHERE ab_test_id = $1 AND NOT id = ANY ($2)', [
        id,
        variants,
      ]);
      expect(rows).toEqual([{ id: ended.finalCampaignId }]);
      const { rows: starts } = await pool.query(`SELECT FROM outbox WHERE workflow_id LIKE $1 || '@%'`, [
        ended.finalCampaignId,
      ]);
      expect(starts).toHaveLength(1);
      const [event, ...others] = await endsOf(api, id);
      expect([event?.data['winner_id'], others]).toEqual([ended.winnerId, []]);
    }
  });

  test('cancels a test with what its variants have not sent; no winner is chosen', async () => {
    const { api, id, variants, path } = await started(10);
    await snapshotRecipients(variants[0]!);
    await api.post(`/v1/campaigns/${variants[1]}/pause`);
    expect((await api.post(`${path}/cancel`)).body.data).toMatchObject({ status: 'canceled', winnerId: null });
    for (const variant of variants)
      expect(await read(api, `/v1/campaigns/${variant}`)).toMatchObject({ status: 'canceled' });
    await isEnding(id);
    expect(await endIfDue(id)).toBeNull();
    expect((await api.post(`${path}/cancel`)).status).toBe(409);
    expect((await api.post(`${path}/choose-winner`, { campaign_id: variants[0] })).status).toBe(409);
    expect((await read(api, path)).finalCampaignId).toBeNull();
    expect(await endsOf(api, id)).toMatchObject([{ data: { ab_test_id: id, variant_ids: variants } }]);
    const canceled = (await api.events('campaign.canceled')).map(({ data }) => data['campaign_id']);
    expect(canceled.toSorted()).toEqual(variants.toSorted());
  });
});
