import { newId, pool } from '@postroom/platform';
import { type Api, runExclusively, testApi } from '@postroom/testkit';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { previewSegment } from '../src/contact-list.ts';
import { compileFilter, Parameters } from '@postroom/segment-filters';
import { countFilters, countSegments, getSegment } from '../src/segments.ts';
import { suppress } from '../src/suppressions.ts';

// Tests of retention drop partitions of events.
runExclusively('retention');

type Filter = Record<string, unknown>;

const preview = async (api: Api, filter: unknown) => api.post('/v1/segments/preview', { filter });

/** The local parts of the contacts that match a filter, in alphabetical order. */
async function held(api: Api, filter: Filter): Promise<string> {
  const reply = await preview(api, filter);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  const names = reply.body.data.contacts.map(({ email }: { email: string }) => email.split('@')[0]);
  expect(reply.body.data.contactCount).toBe(names.length);
  return names.sort().join(' ');
}

describe('a segment filters by custom events', () => {
  const DAY_MS = 86_400_000;
  const NAMES = ['ada', 'bob', 'eve', 'kim', 'lee', 'max'];
  const EVENTS = ['paid', 'seen'];
  interface Event {
    contact: string;
    name: string;
    /** Days ago in UTC. */
    day: number;
    properties: Record<string, unknown>;
  }
  const events: Event[] = [];
  let api: Api;
  beforeAll(async () => {
    api = await testApi();
    const others = await testApi();
    // A fixed sequence, so that each run tests the same.
    let seed = 7;
    const random = (count: number) => (seed = (seed * 16_807) % 2_147_483_647) % count;
    const today = new Date().toISOString().slice(0, 10);
    for (const name of NAMES.slice(0, -1))
      for (let count = 0; count < 7; count++) {
        const day = random(20);
        const total = random(100);
        const properties = {
          total,
          cart: { size: random(4) },
          plan: ['Pro', 'free'][random(2)],
          tags: ['a', 'b'].slice(random(2)),
        };
        events.push({
          contact: name,
          name: EVENTS[random(2)] as string,
          day,
          properties: total % 3 === 0 ? {} : properties,
        });
      }
    for (const name of NAMES) await api.contact(`${name}@example.com`);
    const sent = events.map(({ contact, name, day, properties }) => ({
      email: `${contact}@example.com`,
      name,
      properties,
      occurred_at: new Date(Date.parse(today) - day * DAY_MS).toISOString(),
    }));
    await api.post('/v1/events', { events: sent });
    await others.contact('max@example.com');
    await others.post('/v1/events', { name: 'paid', email: 'max@example.com' });
  });

  type Matches = (event: Event) => boolean;
  const had = (times: number, matches: Matches) => (contact: string) =>
    events.filter((event) => event.contact === contact && matches(event)).length >= times;
  const expected = (matches: (contact: string) => boolean) => NAMES.filter(matches).join(' ');
  const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

  test.each([1, 2, 3, 4])('did at least %d times, ever, in days and since a day, and did not', async (times) => {
    const more = { field: 'event', event: 'paid', ...(times > 1 && { times }) };
    const paid = ({ name }: Event) => name === 'paid';
    const recently: Matches = (event) => paid(event) && event.day <= 8;
    expect(await held(api, { ...more, op: 'ever' })).toBe(expected(had(times, paid)));
    expect(await held(api, { ...more, op: 'never' })).toBe(expected((name) => !had(times, paid)(name)));
    expect(await held(api, { ...more, op: 'inLast', value: 8 })).toBe(expected(had(times, recently)));
    expect(await held(api, { ...more, op: 'not_in_last', value: 8 })).toBe(
      expected((name) => !had(times, recently)(name)),
    );
    expect(await held(api, { ...more, op: 'since', value: ago(8) })).toBe(expected(had(times, recently)));
    expect(await held(api, { not: { ...more, op: 'notSince', value: ago(8) } })).toBe(expected(had(times, recently)));
  });

  test.each([3, 10, 15])('first did in the last %d days', async (days) => {
    const first = (contact: string) => {
      const own = events.filter((event) => event.contact === contact && event.name === 'seen').map(({ day }) => day);
      return own.length > 0 && Math.max(...own) <= days;
    };
    const filter = { field: 'event', event: 'seen' };
    expect(await held(api, { ...filter, op: 'firstInLast', value: days })).toBe(expected(first));
    expect(await held(api, { ...filter, op: 'first_since', value: ago(days) })).toBe(expected(first));
  });

  const properties: [object, (properties: Record<string, unknown>) => boolean][] = [
    [{ property: 'plan', op: 'is', value: 'Pro' }, ({ plan }) => plan === 'Pro'],
    [{ property: 'plan', op: 'is_not', value: 'Pro' }, ({ plan }) => plan !== 'Pro'],
    [{ property: 'plan', op: 'contains', value: 'pR' }, ({ plan }) => plan === 'Pro'],
    [{ property: 'plan', op: 'notContains', value: 'pR' }, ({ plan }) => plan !== 'Pro'],
    [{ property: 'plan', op: 'contains', value: '%' }, () => false],
    [
      { property: 'tags', op: 'contains', value: 'a' },
      ({ tags }) => (tags as string[] | undefined)?.includes('a') === true,
    ],
    [{ property: 'total', op: 'moreThan', value: 40 }, ({ total }) => Number(total) > 40],
    [{ property: 'total', op: 'atMost', value: 40 }, ({ total }) => Number(total) <= 40],
    [{ property: 'total', op: 'is', value: 40 }, ({ total }) => total === 40],
    [
      { property: 'cart.size', op: 'atLeast', value: 2 },
      ({ cart }) => ((cart as { size: number } | undefined)?.size ?? 0) >= 2,
    ],
    [
      { property: 'cart.size', op: 'lessThan', value: 2 },
      ({ cart }) => ((cart as { size: number } | undefined)?.size ?? 9) < 2,
    ],
    [{ property: 'total', op: 'isSet' }, ({ total }) => total !== undefined],
    [{ property: 'total', op: 'isNotSet' }, ({ total }) => total === undefined],
  ];
  test.each(properties)('where %j', async (condition, passes) => {
    for (const times of [1, 2]) {
      const filter = { field: 'event', op: 'inLast', value: 15, event: 'paid', times, where: [condition] };
      const matches: Matches = ({ name, day, properties: given }) => name === 'paid' && day <= 15 && passes(given);
      expect(await held(api, filter), String(times)).toBe(expected(had(times, matches)));
    }
  });

  test('a saved segment keeps the condition, and reads the events of its project alone', async () => {
    const where = [{ property: 'total', op: 'more_than', value: 40 }];
    const filter = { field: 'event', op: 'in_last', value: 15, event: ' paid ', times: 2, where };
    const saved = await api.post('/v1/segments', { name: 'Buyers', filter });
    const stored = {
      field: 'event',
      op: 'inLast',
      value: 15,
      event: 'paid',
      times: 2,
      where: [{ property: 'total', op: 'moreThan', value: 40 }],
    };
    expect(saved.body.data.filter).toEqual(stored);
    const parameters = new Parameters();
    const condition = compileFilter((await getSegment(api.projectId, saved.body.data.id)).filter, parameters);
    const project = parameters.add(api.projectId);
    const { rows } = await pool.query<{ plan: string }>(
      `EXPLAIN (COSTS OFF) SELECT count(*) FROM contacts c WHERE c.project_id = ${project} AND ${condition}`,
      parameters.values,
    );
    const plan = (rows as unknown as Record<string, string>[]).map((row) => row['QUERY PLAN']).join('\n');
    // The project is a condition of the scan of events, not only of the join.
    expect(plan).toMatch(/Cond: \(\(+project_id = |Filter: \(.*project_id = /);
    expect(plan).not.toMatch(/SubPlan/);
  });
});

describe('a segment filters by', () => {
  let api: Api;
  let groupId: string;
  let campaigns: { old: string; recent: string };
  beforeAll(async () => {
    api = await testApi();
    await api.post('/v1/custom-fields', { key: 'company', type: 'text' });
    await api.post('/v1/custom-fields', { key: 'age', type: 'number' });
    await api.post('/v1/custom-fields', { key: 'vip', type: 'boolean' });
    await api.post('/v1/custom-fields', { key: 'renews', type: 'date' });
    await api.post('/v1/custom-fields', { key: 'plan', type: 'select', options: ['free', 'pro'] });
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const ada = await api.contact('ada@example.com', {
      name: 'Ada Lovelace',
      custom_fields: { company: 'Analytical 100%', age: 36, vip: true, renews: day(0), plan: 'pro' },
    });
    const grace = await api.contact('grace@example.org', {
      name: 'Grace Hopper',
      custom_fields: { company: 'Navy', age: 85, renews: day(10), plan: 'free' },
    });
    const alan = await api.contact('alan@example.com', {
      name: "Alan'); DROP TABLE contacts; --",
      custom_fields: { age: 41.5, vip: false, renews: day(-40) },
    });
    const group = await api.post('/v1/groups', { name: 'Group', contact_ids: [ada.id, grace.id] });
    groupId = group.body.data.id;
    await suppress(pool, api.projectId, [
      { email: 'alan@example.com', reason: 'unsubscribed' },
      { email: 'alan@example.com', reason: 'bounced' },
      { email: 'grace@example.org', reason: 'manual' },
    ]);
    campaigns = { old: newId('cmp'), recent: newId('cmp') };
    for (const id of Object.values(campaigns))
      await pool.query('INSERT INTO campaigns (id, project_id, name) VALUES ($1, $2, $1)', [id, api.projectId]);
    await mail(campaigns.old, ada.id, 90, 89);
    await mail(campaigns.recent, ada.id, 5, 4);
    await mail(campaigns.old, grace.id, 90, 80);
    await mail(campaigns.recent, grace.id, 5);
    await mail(campaigns.recent, alan.id, 5);
  });

  /** A message sent the given number of days ago, optionally opened and clicked. */
  async function mail(campaignId: string, contactId: string, sentDaysAgo: number, openedDaysAgo?: number) {
    await pool.query(
      `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at, opened_at, clicked_at)
       VALUES ($1, $2, $3, $4, 'x@example.com', 'accepted', now() - $5 * interval '1 day', now() - $6 * interval '1 day', now() - $6 * interval '1 day')`,
      [newId('eml'), api.projectId, campaignId, contactId, sentDaysAgo, openedDaysAgo ?? null],
    );
  }

  test.each<[Filter, string]>([
    [{ field: 'email', op: 'is', value: 'ADA@example.com' }, 'ada'],
    [{ field: 'email', op: 'isNot', value: 'ada@example.com' }, 'alan grace'],
    [{ field: 'email', op: 'contains', value: 'a@EXAMPLE' }, 'ada'],
    [{ field: 'email', op: 'notContains', value: 'example.com' }, 'grace'],
    [{ field: 'email', op: 'startsWith', value: 'a' }, 'ada alan'],
    [{ field: 'email', op: 'endsWith', value: '@example.org' }, 'grace'],
    [{ field: 'name', op: 'is', value: 'ada lovelace' }, 'ada'],
    [{ field: 'name', op: 'contains', value: "'); DROP TABLE" }, 'alan'],
    [{ field: 'name', op: 'contains', value: 'A%a' }, ''],
    [{ field: 'source', op: 'is', value: 'api' }, 'ada alan grace'],
    [{ field: 'source', op: 'notIn', value: ['api', 'form'] }, ''],
  ])('its own fields: %j', async (filter, expected) => {
    expect(await held(api, filter)).toBe(expected);
  });

  test.each<[Filter, string]>([
    [{ field: 'customFields.company', op: 'is', value: 'Navy' }, 'grace'],
    [{ field: 'customFields.company', op: 'contains', value: '100%' }, 'ada'],
    [{ field: 'customFields.company', op: 'notContains', value: 'navy' }, 'ada alan'],
    [{ field: 'customFields.company', op: 'in', value: ['Navy', 'Analytical 100%'] }, 'ada grace'],
    [{ field: 'customFields.company', op: 'isNotSet' }, 'alan'],
    [{ field: 'customFields.age', op: 'is', value: '36' }, 'ada'],
    [{ field: 'customFields.age', op: 'lessThan', value: 41.5 }, 'ada'],
    [{ field: 'customFields.age', op: 'atMost', value: 41.5 }, 'ada alan'],
    [{ field: 'customFields.age', op: 'moreThan', value: 41.5 }, 'grace'],
    [{ field: 'customFields.age', op: 'atLeast', value: 41.5 }, 'alan grace'],
    [{ field: 'customFields.vip', op: 'is', value: true }, 'ada'],
    [{ field: 'customFields.vip', op: 'isNot', value: true }, 'alan grace'],
    [{ field: 'customFields.vip', op: 'isSet' }, 'ada alan'],
    [{ field: 'customFields.renews', op: 'inLast', value: 30 }, 'ada'],
    [{ field: 'customFields.renews', op: 'inNext', value: 30 }, 'ada grace'],
    [{ field: 'customFields.renews', op: 'notInLast', value: 30 }, 'alan grace'],
    [{ field: 'customFields.renews', op: 'before', value: new Date().toISOString().slice(0, 10) }, 'alan'],
    [{ field: 'customFields.renews', op: 'after', value: new Date().toISOString().slice(0, 10) }, 'grace'],
    [{ field: 'customFields.plan', op: 'is', value: 'PRO' }, 'ada'],
    [{ field: 'customFields.plan', op: 'notIn', value: ['pro'] }, 'alan grace'],
    [{ field: 'custom_fields.plan', op: 'is_not_set' }, 'alan'],
  ])('custom fields, by type: %j', async (filter, expected) => {
    expect(await held(api, filter)).toBe(expected);
  });

  test.each<[Filter, string]>([
    [{ field: 'createdAt', op: 'inLast', value: 1 }, 'ada alan grace'],
    [{ field: 'createdAt', op: 'notInLast', value: 1 }, ''],
    [{ field: 'createdAt', op: 'after', value: '2020-01-01' }, 'ada alan grace'],
    [{ field: 'created_at', op: 'before', value: '2020-01-01T00:00:00Z' }, ''],
    [{ field: 'suppressionStatus', op: 'is', value: 'none' }, 'ada'],
    [{ field: 'suppressionStatus', op: 'is', value: 'bounced' }, 'alan'],
    [{ field: 'suppressionStatus', op: 'is', value: 'unsubscribed' }, ''],
    [{ field: 'suppressionStatus', op: 'in', value: ['none', 'manual'] }, 'ada grace'],
    [{ field: 'suppression_status', op: 'isNot', value: 'bounced' }, 'ada grace'],
  ])('time and suppression status: %j', async (filter, expected) => {
    expect(await held(api, filter)).toBe(expected);
  });

  test('group membership', async () => {
    expect(await held(api, { field: 'group', op: 'is', value: groupId })).toBe('ada grace');
    expect(await held(api, { field: 'group', op: 'notIn', value: [groupId] })).toBe('alan');
  });

  test('engagement: sent, opened, clicked, ever or within a time, for any campaign or one', async () => {
    expect(await held(api, { field: 'opened', op: 'ever' })).toBe('ada grace');
    expect(await held(api, { field: 'opened', op: 'never' })).toBe('alan');
    expect(await held(api, { field: 'opened', op: 'inLast', value: 30 })).toBe('ada');
    expect(await held(api, { field: 'opened', op: 'notInLast', value: 30 })).toBe('alan grace');
    const monthAgo = new Date(Date.now() - 30 * 86_400_000).toISOString();
    expect(await held(api, { field: 'opened', op: 'since', value: monthAgo })).toBe('ada');
    expect(await held(api, { field: 'opened', op: 'notSince', value: monthAgo })).toBe('alan grace');
    expect(await held(api, { field: 'clicked', op: 'ever', campaignId: campaigns.old })).toBe('ada grace');
    expect(await held(api, { field: 'clicked', op: 'never', campaign_id: campaigns.recent })).toBe('alan grace');
    expect(await held(api, { field: 'sent', op: 'ever', campaignId: campaigns.old })).toBe('ada grace');
    expect(await held(api, { field: 'sent', op: 'inLast', value: 30 })).toBe('ada alan grace');
  });

  test('outcomes of mail: delivered, bounced, complained, rejected, unsubscribed and failed, of a campaign', async () => {
    const campaignId = newId('cmp');
    const cast = async (contactId: string, column: string, state = 'accepted') =>
      pool.query(
        `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, ${column})
         VALUES ($1, $2, $3, $4, 'x@example.com', $5::message_state, now())`,
        [newId('eml'), api.projectId, campaignId, contactId, state],
      );
    const [ada, alan, grace] = ['ada@example.com', 'alan@example.com', 'grace@example.org'].map(
      async (email) => (await api.get(`/v1/contacts?email=${email}`)).body.data[0].id as string,
    );
    await cast(await ada!, 'bounced_at');
    await cast(await alan!, 'unsent_at', 'failed');
    await cast(await grace!, 'complained_at');
    const became = (field: string, of = campaignId) => held(api, { field, op: 'ever', campaignId: of });
    expect(await became('bounced')).toBe('ada');
    expect(await became('failed')).toBe('alan');
    expect(await became('complained')).toBe('grace');
    expect(await became('rejected')).toBe('');
    await pool.query('UPDATE messages SET rejected_at = bounced_at WHERE campaign_id = $1', [campaignId]);
    expect(await became('rejected')).toBe('ada');
    expect(await became('delivered')).toBe('');
    expect(await became('unsubscribed')).toBe('');
    expect(await became('bounced', campaigns.old)).toBe('');
    await pool.query('DELETE FROM messages WHERE campaign_id = $1', [campaignId]);
  });

  test('and, or and not, in any nesting', async () => {
    const pro = { field: 'customFields.plan', op: 'is', value: 'pro' };
    const old = { field: 'customFields.age', op: 'moreThan', value: 80 };
    const org = { field: 'email', op: 'endsWith', value: '.org' };
    expect(await held(api, { and: [old, org] })).toBe('grace');
    expect(await held(api, { or: [pro, old] })).toBe('ada grace');
    expect(await held(api, { not: { or: [pro, old] } })).toBe('alan');
    expect(await held(api, { not: { not: { and: [{ not: pro }, { or: [{ not: org }, old] }] } } })).toBe('alan grace');
    expect(await held(api, { not: old })).toBe('ada alan');
  });

  test.each<[unknown, string, string]>([
    ['pro', 'filter', 'must be an object'],
    [{}, 'filter', 'must be a condition'],
    [{ and: [] }, 'filter.and', 'must be an array of at least one'],
    [{ field: 'customFields.age', op: 'in', value: 5 }, 'filter.value', 'must be an array; each must be a number'],
    [{ field: 'group', op: 'in', value: 'x' }, 'filter.value', 'must be an array of ids of groups'],
    [{ field: 'source', op: 'in', value: 'api' }, 'filter.value', 'must be an array of: api'],
    [{ and: [{ field: 'email', op: 'is', value: 'x' }], or: [] }, 'filter', 'exactly one of'],
    [
      { and: [{ not: { field: 'shoe', op: 'is' } }] },
      'filter.and.0.not.field',
      'must be custom_fields.<key> or one of',
    ],
    [{ field: 'constructor', op: 'is', value: 'x' }, 'filter.field', 'must be'],
    [{ field: 'email', op: 'toString', value: 'x' }, 'filter.op', 'must be one of'],
    [{ field: 'customFields.shoe', op: 'is', value: 1 }, 'filter.field', 'is not a custom field'],
    [{ field: 'customFields', op: 'is', value: 1 }, 'filter.field', 'must be'],
    [{ field: 'email', op: 'lessThan', value: 1 }, 'filter.op', 'must be one of: is, isNot'],
    [{ field: 'customFields.vip', op: 'contains', value: 'x' }, 'filter.op', 'must be one of: is, isNot, isSet'],
    [{ field: 'customFields.age', op: 'is', value: 'old' }, 'filter.value', 'must be a number'],
    [{ field: 'customFields.age', op: 'lessThan', value: '5' }, 'filter.value', 'must be a number'],
    [{ field: 'customFields.plan', op: 'in', value: ['pro', 'gold'] }, 'filter.value', 'must be one of: free, pro'],
    [{ field: 'customFields.age', op: 'isSet', value: 1 }, 'filter.value', 'must be omitted'],
    [{ field: 'email', op: 'contains', value: ' ' }, 'filter.value', 'must be a string'],
    [{ field: 'source', op: 'is', value: 'mars' }, 'filter.value', 'must be one of: api'],
    [{ field: 'opened', op: 'inLast', value: 0 }, 'filter.value', 'must be a number of days'],
    [{ field: 'opened', op: 'since', value: 'monday' }, 'filter.value', 'must be a date and time'],
    [{ field: 'opened', op: 'ever', campaignId: 'x' }, 'filter.campaignId', 'must be the id of a campaign'],
    [{ field: 'email', op: 'is', value: 'x', campaignId: 'x' }, 'filter.campaignId', 'only for sent'],
    [{ field: 'opened', op: 'ever', templateId: newId('cmp') }, 'filter.templateId', 'must be the id of a template'],
    [{ field: 'event', op: 'ever', event: 'paid', template_id: 'x' }, 'filter.templateId', 'only for sent'],
    [
      { field: 'opened', op: 'ever', campaignId: newId('cmp'), templateId: newId('tpl') },
      'filter.templateId',
      'not be combined with campaign_id',
    ],
    [
      { field: 'opened', op: 'ever', campaignId: newId('cmp'), url: 'https://a.test' },
      'filter.url',
      'only for clicked',
    ],
    [{ field: 'clicked', op: 'ever', url: 'https://a.test' }, 'filter.url', 'needs the campaign_id'],
    [{ field: 'clicked', op: 'ever', campaignId: newId('cmp'), url: '' }, 'filter.url', '1 to 2048 characters'],
    [{ field: 'email', op: 'is', value: 'x', url: 'https://a.test' }, 'filter.url', 'only for sent'],
    [{ field: 'email', op: 'is', value: 'x', limit: 3 }, 'filter.limit', 'is not a known field'],
    [{ field: 'event', op: 'ever' }, 'filter.event', 'is required'],
    [{ field: 'event', op: 'ever', event: 'a\nb' }, 'filter.event', 'one line'],
    [{ field: 'event', op: 'ever', event: 'paid', times: 0 }, 'filter.times', '1 and 10000'],
    [
      { field: 'event', op: 'firstInLast', value: 3, event: 'paid', times: 2 },
      'filter.times',
      'must be omitted for firstInLast',
    ],
    [{ field: 'event', op: 'ever', event: 'paid', where: [] }, 'filter.where', 'must be an array of 1 to 10'],
    [
      { field: 'event', op: 'ever', event: 'paid', where: [{ property: 'a', op: 'isSet', limit: 3 }] },
      'filter.where.0.limit',
      'is not a known field',
    ],
    [
      { field: 'event', op: 'ever', event: 'paid', where: [{ property: 'a', op: 'x' }] },
      'filter.where.0.op',
      'must be one of: is, isNot',
    ],
    [
      { field: 'event', op: 'ever', event: 'paid', where: [{ property: 'a', op: 'moreThan', value: '5' }] },
      'filter.where.0.value',
      'must be a number',
    ],
    [{ field: 'event', op: 'ever', event: 'paid', where: [7] }, 'filter.where.0', 'must be an object'],
    [{ field: 'event', op: 'ever', event: 'paid', campaignId: 'x' }, 'filter.campaignId', 'only for sent'],
    [{ field: 'email', op: 'is', value: 'x', event: 'paid' }, 'filter.event', 'only for conditions on event'],
    [{ field: 'group', op: 'is', value: 'x' }, 'filter.value', 'must be the id of a group'],
    [{ field: 'group', op: 'is', value: newId('grp') }, 'filter', 'is not a group of this project'],
  ])('an invalid filter: %j is a validation_error of %s', async (filter, field, message) => {
    const reply = await preview(api, filter);
    expect(reply.status).toBe(400);
    const [problem] = reply.body.error.details;
    expect(problem.field.replaceAll('_', '').toLowerCase()).toBe(field.toLowerCase());
    expect(problem.message).toContain(message);
  });

  test('at most 100 conditions, nested at most 8 deep', async () => {
    const condition = { field: 'email', op: 'contains', value: 'x' };
    const wide = { or: Array.from({ length: 101 }, () => condition) };
    expect((await preview(api, wide)).body.error.details[0].message).toBe('must have at most 100 conditions');
    let deep: unknown = condition;
    for (let depth = 0; depth < 8; depth++) deep = { not: deep };
    expect((await preview(api, deep)).body.error.message).toContain('nested more than 8 levels deep');
  });
});

test('a segment is created, listed, retrieved with its count, changed and deleted; its contacts stay', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  const filter = { field: 'email', op: 'ends_with', value: '@example.com' };
  const created = await api.post('/v1/segments', { name: ' Everyone ', filter });
  expect(created.status).toBe(201);
  const segment = created.body.data;
  expect(segment).toEqual({
    id: expect.stringMatching(/^seg_/),
    name: 'Everyone',
    problems: [],
    version: 1,
    editedById: expect.stringMatching(/^key_/),
    editedByName: 'test',
    filter: { ...filter, op: 'endsWith' },
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  });
  expect((await api.get('/v1/segments')).body).toEqual({ data: [segment], has_more: false, next_cursor: null });
  expect((await api.get(`/v1/segments/${segment.id}`)).body.data).toEqual({ ...segment, contactCount: 1 });
  const nobody = { field: 'source', op: 'is', value: 'form' };
  const changed = await api.patch(`/v1/segments/${segment.id}`, { name: 'Nobody', filter: nobody });
  expect(changed.body.data).toMatchObject({ name: 'Nobody', filter: nobody });
  expect((await api.get(`/v1/segments/${segment.id}`)).body.data.contactCount).toBe(0);
  expect((await api.delete(`/v1/segments/${segment.id}`)).body).toEqual({ deleted: true });
  expect((await api.get(`/v1/segments/${segment.id}`)).status).toBe(404);
  expect((await api.get('/v1/contacts')).body.data.length).toBe(1);
});

test('a taken name is a conflict, even with concurrent requests', async () => {
  const api = await testApi();
  const filter = { field: 'source', op: 'is', value: 'api' };
  const create = () => api.post('/v1/segments', { name: 'Same', filter });
  const replies = await Promise.all([create(), create()]);
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
  const other = await api.post('/v1/segments', { name: 'Other', filter });
  expect((await api.patch(`/v1/segments/${other.body.data.id}`, { name: 'Same' })).status).toBe(409);
});

test('of concurrent edits of a segment that name the same version, one succeeds', async () => {
  const api = await testApi();
  const filter = { field: 'email', op: 'endsWith', value: '@example.com' };
  const { id, version, editedById } = (await api.post('/v1/segments', { name: 'All', filter })).body.data;
  expect(editedById).toMatch(/^key_/);
  const edit = (value: string) => api.patch(`/v1/segments/${id}`, { filter: { ...filter, value }, version });
  const replies = await Promise.all(['.one', '.two', '.three'].map(edit));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  const refused = replies.find(({ status }) => status === 409)?.body.error;
  expect(refused).toMatchObject({ code: 'conflict', details: [{ field: 'version' }] });
  const taken = replies.find(({ status }) => status === 200)?.body.data;
  expect((await api.get(`/v1/segments/${id}`)).body.data).toMatchObject(taken);
  expect((await api.patch(`/v1/segments/${id}`, { name: 'Others' })).body.data).toMatchObject({ version: version + 2 });
  expect((await api.patch(`/v1/segments/${id}`, {})).body.data).toMatchObject({ version: version + 2 });
  expect((await api.patch(`/v1/segments/${id}`, { version })).status).toBe(409);
});

test("another project's segment is not_found, and its groups cannot be used in filters", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { id } = (await other.post('/v1/segments', { name: 'S', filter: { field: 'source', op: 'is', value: 'api' } }))
    .body.data;
  for (const reply of [
    await api.get(`/v1/segments/${id}`),
    await api.patch(`/v1/segments/${id}`, { name: 'x' }),
    await api.delete(`/v1/segments/${id}`),
  ]) {
    expect(reply.status).toBe(404);
  }
  const ada = await other.contact('ada@example.com');
  const group = await other.post('/v1/groups', { name: 'G', contact_ids: [ada.id] });
  expect((await preview(api, { field: 'group', op: 'is', value: group.body.data.id })).status).toBe(400);
});

test('the contact list shows the segments of a contact, ordered by name', async () => {
  const api = await testApi();
  const everyone = { field: 'source', op: 'is', value: 'api' };
  for (const name of ['Zeta', 'Alpha']) await api.post('/v1/segments', { name, filter: everyone });
  await api.post('/v1/segments', { name: 'Nobody', filter: { not: everyone } });
  const ada = await api.contact('ada@example.com');
  const names = (contact: { segments: { name: string }[] }) => contact.segments.map(({ name }) => name);
  expect(names((await api.get('/v1/contacts')).body.data[0])).toEqual(['Alpha', 'Zeta']);
  expect(names((await api.get(`/v1/contacts/${ada.id}`)).body.data)).toEqual(['Alpha', 'Zeta']);
});

test('another module can snapshot the contacts of a segment with its SQL', async () => {
  const api = await testApi();
  for (const name of ['ada', 'grace']) await api.contact(`${name}@example.com`);
  const filter = { field: 'email', op: 'startsWith', value: 'ada' };
  const { id } = (await api.post('/v1/segments', { name: 'A', filter })).body.data;
  const parameters = new Parameters();
  const project = parameters.add(api.projectId);
  const condition = compileFilter((await getSegment(api.projectId, id)).filter, parameters);
  const { rows } = await pool.query(
    `SELECT c.email FROM contacts c WHERE c.project_id = ${project} AND ${condition}`,
    parameters.values,
  );
  expect(rows).toEqual([{ email: 'ada@example.com' }]);
});

describe('what contacts of a large project were sent or did', () => {
  const opened = { field: 'opened', op: 'ever' };
  const named = { field: 'name', op: 'is', value: 'many' };

  /** A project with this many contacts, the newest of whom has opened an email. */
  async function projectOf(contacts: number) {
    const { projectId } = await testApi();
    await pool.query(
      `INSERT INTO contacts (id, project_id, email, email_key, name, source)
       SELECT postroom_id('ctc'), $1, i || '@example.com', i || '@example.com', 'many', 'api' FROM generate_series(1, $2::int) i`,
      [projectId, contacts],
    );
    const open = () =>
      pool.query(
        `INSERT INTO messages (id, project_id, contact_id, email, state, opened_at)
         SELECT postroom_id('eml'), project_id, id, email, 'accepted', now() FROM contacts c
          WHERE project_id = $1 AND NOT EXISTS (SELECT FROM messages WHERE contact_id = c.id) ORDER BY id DESC LIMIT 1`,
        [projectId],
      );
    await open();
    return { projectId, open };
  }
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is counted once for a while; their other properties, the recorded size and small projects are counted each time', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const large = await projectOf(20_000);
    const counts = () => countSegments(large.projectId, [named, opened, { not: { or: [opened] } }]);
    expect(await counts()).toEqual([20_000, 1, 19_999]);
    const before = await previewSegment(large.projectId, opened);
    await large.open();
    await pool.query(`DELETE FROM contacts WHERE id = (SELECT min(id) FROM contacts WHERE project_id = $1)`, [
      large.projectId,
    ]);
    expect(await counts()).toEqual([19_999, 1, 19_999]);
    expect(await previewSegment(large.projectId, opened)).toEqual(before);
    expect(await countFilters(large.projectId, [opened])).toEqual([2]);
    vi.advanceTimersByTime(2_100);
    expect(await counts()).toEqual([19_999, 2, 19_997]);
    expect((await previewSegment(large.projectId, opened)).contacts).toHaveLength(2);

    const small = await projectOf(3);
    expect(await countSegments(small.projectId, [opened])).toEqual([1]);
    await small.open();
    expect(await countSegments(small.projectId, [opened])).toEqual([2]);
    expect((await previewSegment(small.projectId, opened)).count).toBe(2);
  });
});

test('the contacts of segments count towards the text that a request may read', async () => {
  const api = await testApi();
  await pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, custom_fields, source, updated_at)
     SELECT postroom_id('ctc'), $1, i || '@example.com', i || '@example.com', '', jsonb_build_object('long', repeat('x', 60000)), 'api', now()
     FROM generate_series(1, 50) i`,
    [api.projectId],
  );
  for (const name of ['A', 'B', 'C', 'D', 'E']) {
    const filter = { field: 'email', op: 'contains', value: 'example' };
    expect((await api.post('/v1/segments', { name, filter })).status).toBe(201);
  }
  const list = (segments: number) =>
    api.graphql(`{ segments(first: ${segments}) { nodes { contacts(first: 50) { nodes { customFields } } } } }`);
  expect((await list(2)).body.errors).toBeUndefined();
  expect((await list(5)).body.errors[0].extensions.code).toBe('payload_too_large');
});
