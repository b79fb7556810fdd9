import { newId, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { compileFilter, Parameters, readFilter } from '@postroom/segment-filters';

type Filter = Record<string, unknown>;

const DAY_MS = 86_400_000;
const NAMES = ['ada', 'bob', 'eve', 'kim', 'lee', 'max'];
const URLS = ['https://a.test/pricing', 'https://a.test/docs'];

interface Click {
  at: number;
  position: number;
  isHuman: boolean;
}

interface Mail {
  to: string;
  campaignId: string | null;
  templateId: string | null;
  sent: number;
  opened: number | null;
  clicks: Click[];
  /** Transactional mail belongs to an address, and counts for the contact with a condition on its template only. */
  isTransactional: boolean;
}

/** A linear congruential generator, so that a failure can be repeated. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test.each([1, 2])('conditions on mail mean what a plain evaluation of all mail says, data %i', async (seed) => {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]) => items[random(items.length)] as T;
  const [own, other] = await Promise.all([testApi(), testApi()]);
  const now = Date.now();
  const templates = [newId('tpl'), newId('tpl')];
  // Each has both links, at positions that differ; the last is made from no template.
  const campaigns = [...templates, templates[0], null].map((templateId, index) => ({
    id: newId('cmp'),
    templateId: templateId ?? null,
    urls: index % 2 === 0 ? [...URLS, URLS[0] as string] : [...URLS].reverse(),
  }));
  for (const { id, templateId, urls } of campaigns) {
    await pool.query('INSERT INTO campaigns (id, project_id, name, template_id) VALUES ($1, $2, $1, $3)', [
      id,
      own.projectId,
      templateId,
    ]);
    await pool.query(
      `INSERT INTO tracked_links (owner_id, position, url)
       SELECT $1, at - 1, url FROM unnest($2::text[]) WITH ORDINALITY AS l(url, at)`,
      [id, urls],
    );
  }
  const ids = new Map<string, string>();
  for (const name of NAMES) ids.set(name, (await own.contact(`${name}@example.com`)).id);
  await other.contact('max@example.com');

  const insert = async ({ to, campaignId, templateId, sent, opened, clicks }: Mail, by: string) => {
    const id = newId('eml');
    const humans = clicks.filter(({ isHuman }) => isHuman).map(({ at }) => at);
    const date = (at: number | null) => (at === null ? null : new Date(at));
    await pool.query(
      `INSERT INTO messages (id, project_id, campaign_id, template_id, contact_id, email, state, accepted_at, opened_at, clicked_at)
       VALUES ($1, $2, $3, $4, $5, $6, 'accepted', $7, $8, $9)`,
      [
        id,
        by === 'elsewhere' ? other.projectId : own.projectId,
        campaignId,
        campaignId === null ? templateId : null,
        by === 'campaign' || by === 'journey' ? ids.get(to) : null,
        `${to.toUpperCase()}@example.com`,
        date(sent),
        date(opened),
        date(humans.length === 0 ? null : Math.min(...humans)),
      ],
    );
    for (const { at, position, isHuman } of clicks)
      await pool.query(
        `INSERT INTO tracking_hits (message_id, project_id, kind, position, at, verdict)
         VALUES ($1, $2, 'click', $3, $4, $5::hit_verdict)`,
        [id, own.projectId, position, date(at), isHuman ? 'person' : 'machine'],
      );
  };
  const mails: Mail[] = [];
  const sentOnce = new Set<string>();
  for (let count = 0; count < 45; count++) {
    const sent = now - (random(40 * 24) * 60 + 30) * 60_000;
    const after = () => sent + random(now - sent);
    const by = pick(['campaign', 'campaign', 'journey', 'api', 'elsewhere']);
    const campaign = pick(campaigns);
    const to = pick(NAMES.slice(0, -1));
    if (by === 'campaign' && sentOnce.has(`${to} ${campaign.id}`)) continue;
    if (by === 'campaign') sentOnce.add(`${to} ${campaign.id}`);
    const mail: Mail = {
      to,
      campaignId: by === 'campaign' ? campaign.id : null,
      templateId: by === 'campaign' ? campaign.templateId : pick([...templates, null]),
      sent,
      opened: random(3) === 0 ? null : after(),
      clicks: Array.from({ length: random(4) }, () => ({
        at: after(),
        position: random(3),
        isHuman: random(4) !== 0,
      })),
      isTransactional: by === 'api',
    };
    await insert(mail, by);
    if (by !== 'elsewhere') mails.push(mail);
  }

  const times = ({ field, campaignId, templateId, url }: Filter, name: string): number[] =>
    mails
      .filter((mail) => mail.to === name && (campaignId === undefined || mail.campaignId === campaignId))
      .filter((mail) => (templateId === undefined ? !mail.isTransactional : mail.templateId === templateId))
      .flatMap(({ sent, opened, clicks, campaignId: of }) => {
        if (field === 'sent') return [sent];
        if (field === 'opened') return opened === null ? [] : [opened];
        const humans = clicks.filter(({ isHuman }) => isHuman);
        const { urls } = campaigns.find(({ id }) => id === of) ?? { urls: [] };
        if (url !== undefined) return humans.filter(({ position }) => urls[position] === url).map(({ at }) => at);
        return humans.length === 0 ? [] : [Math.min(...humans.map(({ at }) => at))];
      });
  const evaluate = (filter: Filter, name: string): boolean => {
    if (Array.isArray(filter.and)) return filter.and.every((each: Filter) => evaluate(each, name));
    if (Array.isArray(filter.or)) return filter.or.some((each: Filter) => evaluate(each, name));
    if (filter.not !== undefined) return !evaluate(filter.not as Filter, name);
    const { op, value } = filter as { op: string; value?: number | string };
    const from = typeof value === 'number' ? now - value * DAY_MS : value === undefined ? 0 : Date.parse(value);
    const happened = times(filter, name).some((at) => at >= from);
    return op === 'never' || op.startsWith('not') ? !happened : happened;
  };
  const condition = (): Filter => {
    const op = pick(['ever', 'never', 'since', 'notSince', 'inLast', 'notInLast']);
    const of = pick(['any', 'campaign', 'template', 'template', 'link', 'link']);
    return {
      field: of === 'link' ? 'clicked' : pick(['sent', 'opened', 'clicked']),
      op,
      ...(/since/i.test(op) && { value: new Date(now - random(40 * 24 * 60) * 60_000).toISOString() }),
      ...(/inLast/i.test(op) && { value: 1 + random(40) }),
      ...(of === 'template' && { templateId: pick(templates) }),
      ...((of === 'campaign' || of === 'link') && { campaignId: pick(campaigns).id }),
      ...(of === 'link' && { url: pick(URLS) }),
    };
  };
  for (let round = 0; round < 80; round++) {
    const [one, two] = [condition(), condition()];
    const filter: Filter = [one, { and: [one, two] }, { or: [one, { not: two }] }, { not: one }][round % 4] as Filter;
    const read = readFilter(filter, new Map());
    expect(read.problems).toEqual([]);
    expect(read.filter).toEqual(filter);
    for (const fewContacts of [false, true]) {
      const parameters = new Parameters({ fewContacts });
      const { rows } = await pool.query<{ name: string }>(
        `SELECT split_part(c.email, '@', 1) AS name FROM contacts c
         WHERE c.project_id = ${parameters.add(own.projectId)} AND ${compileFilter(read.filter, parameters)} ORDER BY 1`,
        parameters.values,
      );
      expect(
        rows.map(({ name }) => name),
        JSON.stringify(filter),
      ).toEqual(NAMES.filter((name) => evaluate(filter, name)));
    }
  }
});

test('a saved segment keeps the template or link of a condition', async () => {
  const api = await testApi();
  const [campaignId, templateId] = [newId('cmp'), newId('tpl')];
  const filter = {
    or: [
      { field: 'opened', op: 'ever', template_id: templateId },
      { field: 'clicked', op: 'in_last', value: 7, campaign_id: campaignId, url: URLS[0] },
    ],
  };
  expect((await api.post('/v1/segments', { name: 'Interested', filter })).body.data.filter).toEqual({
    or: [
      { field: 'opened', op: 'ever', templateId },
      { field: 'clicked', op: 'inLast', value: 7, campaignId, url: URLS[0] },
    ],
  });
});
