import { addToCampaignCounts } from '@postroom/campaigns/sql';
import { campaignNotice, EMAIL_EVENT_MEMBERS } from '@postroom/ledger';
import { recordFacts } from '@postroom/ledger/sql';
import { isIdWithin, rowsById, rowWithId, valueById } from '@postroom/partitions/sql';
import { databaseTime, inTransaction, recordSelected } from '@postroom/platform';
import { isHere } from '@postroom/projects/sql';
import { TRACKING_POLICY } from './policy.ts';

const {
  tooSoonMs: TOO_SOON_MS,
  burstLinks: BURST_LINKS,
  burstMs: BURST_MS,
  afterMs: AFTER_MS,
  maxBatch: MAX_BATCH,
  minShare: MIN_SHARE,
} = TRACKING_POLICY.classify;

/** Message timestamps: column prefix, kind of hit, and whether humans or bots set it. */
const FACTS = [
  ['opened', 'open', true],
  ['clicked', 'click', true],
  ['machine_opened', 'open', false],
  ['machine_clicked', 'click', false],
] as const;
const facts = (sql: (name: string, kind: string, human: boolean) => string) =>
  FACTS.map(([name, kind, human]) => sql(name, kind, human)).join(', ');

/** The message of a hit. */
const messageOf = (hit: string, lock = '') =>
  rowWithId('messages', 'm', `${hit}.message_id`, `AND ${isIdWithin('m.id', '$2', '$3')} ${lock}`);

/** What a batch of hits says about the message `m`. */
const known = valueById('known_by_id', 'm.id');

/**
 * Classifies a batch of hits as human or bot and records the consequences. These are the first timestamps on messages, the
 * counters of campaigns and links, and an event for the first human open of a message and the first human click on each of its
 * links. An `unknown` message that was opened or clicked becomes accepted. Locks are taken on messages first, then
 * campaigns, as in all writes to the ledger. All are lookups by primary key and by `tracking_hits.message_id`. The hits' ids are in
 * `$1`, separated by commas, because PostgreSQL expects a thousand rows of such a text and few of an array, for which it would compare
 * each row of a batch with each other. The messages' ids are from `$2` to `$3`.
 */
const CLASSIFY = `
  WITH due AS (
    SELECT h.* FROM string_to_table($1, ',') AS batch(id) JOIN tracking_hits h ON h.id = batch.id::bigint
  ), reasoned AS (
    SELECT d.id, d.message_id, d.kind, d.position, d.at, d.user_agent, m.project_id, CASE
      WHEN m.id IS NULL THEN 'no_message'
      WHEN d.reason IS NOT NULL THEN d.reason
      WHEN d.at < coalesce(m.accepted_at, m.claimed_at) + interval '${TOO_SOON_MS} ms' THEN 'too_soon'
      WHEN d.kind = 'click' AND (SELECT count(DISTINCT o.position) FROM tracking_hits o
        WHERE o.message_id = d.message_id AND o.kind = 'click' AND o.at BETWEEN d.at - interval '${BURST_MS} ms' AND d.at + interval '${BURST_MS} ms'
        ) >= ${BURST_LINKS} THEN 'burst'
      END AS reason
    FROM due d LEFT JOIN LATERAL ${messageOf('d')} m ON true
  ), classified AS (
    SELECT *, reason IS NULL AS human, row_number() OVER (PARTITION BY message_id, kind, reason IS NULL ORDER BY at, id) AS nth,
      row_number() OVER (PARTITION BY message_id, kind, position, reason IS NULL ORDER BY at, id) AS nth_of_link
    FROM reasoned
  ), seen AS (
    SELECT message_id, min(at) AS at, ${facts((name, kind, human) => `min(at) FILTER (WHERE kind = '${kind}' AND human = ${human}) AS ${name}`)}
    FROM classified WHERE project_id IS NOT NULL GROUP BY message_id ORDER BY message_id
  ), known AS (
    SELECT m.id, m.state AS before, s.at AS seen_at,
      ${facts((name) => `CASE WHEN m.${name}_at IS NULL THEN s.${name} END AS ${name}`)}
    FROM seen s CROSS JOIN LATERAL ${messageOf('s', 'FOR NO KEY UPDATE')} m
  ), known_by_id AS (
    ${rowsById('known')}
  ), changed AS (
    ${recordFacts(
      FACTS.map(([name]) => name),
      known,
      { when: `${known('before', 'text')} = 'unknown'`, at: known('seen_at') },
    )}
    WHERE m.id = ANY (ARRAY(SELECT id FROM known WHERE coalesce(${facts((name) => name)}) IS NOT NULL OR before = 'unknown'))
      AND ${isIdWithin('m.id', '$2', '$3')}
    RETURNING m.id, m.campaign_id, ${known('before', 'text')} AS before, ${facts((name) => `${known(name)} AS ${name}`)}
  ), first AS (
    SELECT j.id, j.nth = 1 AND k.id IS NOT NULL AND CASE WHEN j.kind = 'open' THEN CASE WHEN j.human THEN k.opened ELSE k.machine_opened END
        ELSE CASE WHEN j.human THEN k.clicked ELSE k.machine_clicked END END IS NOT NULL AS of_message,
      j.kind = 'click' AND j.human AND j.nth_of_link = 1 AND NOT EXISTS (SELECT FROM tracking_hits o
        WHERE o.message_id = j.message_id AND o.kind = 'click' AND o.position = j.position AND o.verdict = 'person') AS of_link
    FROM classified j LEFT JOIN known k ON k.id = j.message_id
  ), marked AS (
    UPDATE tracking_hits h SET verdict = CASE WHEN j.human THEN 'person' ELSE 'machine' END::hit_verdict, reason = j.reason,
      project_id = j.project_id, is_first = f.of_message
    FROM classified j JOIN first f ON f.id = j.id WHERE h.id = j.id
  ), followed AS (
    SELECT coalesce(m.campaign_id, m.copy_of, m.id) AS owner_id, j.position, count(*) FILTER (WHERE j.human) AS humans,
      count(*) FILTER (WHERE f.of_link) AS uniques, count(*) FILTER (WHERE NOT j.human) AS bots
    FROM classified j JOIN first f ON f.id = j.id CROSS JOIN LATERAL ${messageOf('j')} m WHERE j.kind = 'click' GROUP BY 1, 2
  ), links AS (
    UPDATE tracked_links l SET clicks = clicks + n.humans, unique_clicks = unique_clicks + n.uniques,
      machine_clicks = machine_clicks + n.bots
    FROM followed n WHERE l.owner_id = n.owner_id AND l.position = n.position
  ), recorded AS (
    ${recordSelected(`SELECT postroom_id('evt'), e.project_id, e.type, e.data FROM (
      SELECT m.project_id, 0 AS rank, m.id, 'email.sent' AS type, json_build_object(${EMAIL_EVENT_MEMBERS}) AS data
      FROM (SELECT id AS message_id, before FROM changed) r CROSS JOIN LATERAL ${messageOf('r')} m LEFT JOIN campaigns c ON c.id = m.campaign_id WHERE r.before = 'unknown'
      UNION ALL
      SELECT m.project_id, CASE j.kind WHEN 'open' THEN 1 ELSE 2 END, m.id,
        CASE j.kind WHEN 'open' THEN 'email.opened' ELSE 'email.clicked' END,
        CASE j.kind WHEN 'open' THEN json_build_object(${EMAIL_EVENT_MEMBERS}, 'machine', false, 'user_agent', j.user_agent)
          ELSE json_build_object(${EMAIL_EVENT_MEMBERS}, 'url', l.url, 'machine', false, 'user_agent', j.user_agent) END
      FROM classified j JOIN first f ON f.id = j.id CROSS JOIN LATERAL ${messageOf('j')} m
      LEFT JOIN campaigns c ON c.id = m.campaign_id
      LEFT JOIN tracked_links l ON l.owner_id = coalesce(m.campaign_id, m.copy_of, m.id) AND l.position = j.position
      WHERE j.human AND CASE j.kind WHEN 'open' THEN f.of_message ELSE f.of_link END
      ORDER BY rank, id
    ) e`)}
  ), counted AS (
    SELECT campaign_id, count(*) FILTER (WHERE before = 'unknown') AS resolved,
      ${facts((name) => `count(${name}) AS ${name}`)}
    FROM changed WHERE campaign_id IS NOT NULL GROUP BY campaign_id
  ), locked AS (
    SELECT id FROM campaigns WHERE id IN (SELECT campaign_id FROM counted) ORDER BY id FOR NO KEY UPDATE
  ), counters AS (
    ${addToCampaignCounts(
      {
        ...Object.fromEntries(FACTS.map(([name]) => [name, `n.${name}`])),
        accepted: 'n.resolved',
        unknown: '-n.resolved',
      },
      'FROM counted n JOIN locked l ON l.id = n.campaign_id WHERE c.id = l.id',
    )}
  )
  SELECT (SELECT count(*)::int FROM classified) AS classified, (SELECT array_agg(campaign_id) FROM counted) AS campaigns`;

/** The project of a waiting hit, as in its index. Gateways of the previous version did not store it. */
const PROJECT = "coalesce(h.project_id, '')";

/**
 * The next batch at `$1`, and the limits of its messages; null if no hits are due. Projects with waiting hits take turns, so a flood of hits
 * on the mail of one delays those of another by a batch. Each offers its share, or a minimum that keeps batches full while most
 * projects have few hits. It runs every second, so it must be cheap: the index of waiting hits begins with the project, so a project
 * costs a lookup and the hits that it offers.
 */
const BATCH = `
  WITH RECURSIVE waiting AS (
    (SELECT ${PROJECT} AS project FROM tracking_hits h WHERE h.verdict IS NULL ORDER BY 1 LIMIT 1)
    UNION ALL
    SELECT (SELECT ${PROJECT} FROM tracking_hits h WHERE h.verdict IS NULL AND ${PROJECT} > w.project ORDER BY 1 LIMIT 1)
    FROM waiting w WHERE w.project IS NOT NULL
  ), shares AS (
    SELECT project, greatest(${MIN_SHARE}, ${MAX_BATCH} / count(*) OVER ()) AS share FROM waiting w
    WHERE project IS NOT NULL AND ${isHere('w.project')}
  ), batch AS (
    SELECT d.id, d.message_id FROM shares s CROSS JOIN LATERAL (
      SELECT h.id, h.message_id, row_number() OVER (ORDER BY h.id) AS turn FROM tracking_hits h
      WHERE ${PROJECT} = s.project AND h.verdict IS NULL AND h.at <= $1::timestamptz - interval '${AFTER_MS} ms'
        AND (h.project_id IS NOT NULL OR ${isHere('(SELECT m.project_id FROM messages m WHERE m.id = h.message_id)')})
      ORDER BY h.id LIMIT s.share
    ) d ORDER BY d.turn, d.id LIMIT ${MAX_BATCH}
  )
  SELECT string_agg(id::text, ',') AS ids, min(message_id) AS lowest, max(message_id) AS highest FROM batch`;

/**
 * Classifies the hits that are due. An advisory lock lets only one process do so at a time; others return 0.
 * @returns the number of hits classified.
 */
export async function classifyHits(now = databaseTime()): Promise<number> {
  return inTransaction(async (client) => {
    const { rows: locks } = await client.query<{ mine: boolean }>(
      "SELECT pg_try_advisory_xact_lock(hashtext('postroom tracking')) AS mine",
    );
    if (locks[0]?.mine !== true) return 0;
    // Until PostgreSQL has analyzed the hits it expects many, and would scan all messages to find a few.
    await client.query('SET LOCAL enable_seqscan = off');
    const { rows: batches } = await client.query<Record<'ids' | 'lowest' | 'highest', string | null>>({
      name: 'tracking-batch',
      text: BATCH,
      values: [now],
    });
    const { ids = null, lowest = null, highest = null } = batches[0] ?? {};
    if (ids === null) return 0;
    const { rows } = await client.query<{ classified: number; campaigns: string[] | null }>({
      name: 'tracking-classify',
      text: CLASSIFY,
      values: [ids, lowest, highest],
    });
    for (const campaignId of rows[0]?.campaigns ?? []) {
      const notice = campaignNotice(campaignId);
      if (notice !== '') await client.query("SELECT pg_notify('postroom', $1)", [notice]);
    }
    return rows[0]?.classified ?? 0;
  });
}
