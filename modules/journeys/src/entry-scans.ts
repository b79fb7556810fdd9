import {
  customFieldKey,
  dateOf,
  datesOf,
  type Definition,
  type EntryOf,
  EVERY_DAY,
  localDays,
  scanKey,
  zoneOf,
} from '@postroom/journey-definition';
import { Parameters, segmentSql } from '@postroom/contacts';
import { DomainError, inTransaction, pool, runCostly, sql, type Tx } from '@postroom/platform';
import { pauseByItself } from './journeys.ts';
import { nextLocalTimes } from './local-time.ts';
import { definitionOf } from './versions.ts';

/** The least time between two scans of a segment, and how often local times are looked for in all zones, in milliseconds. */
const SEGMENT_INTERVAL_MS = 5 * 60_000;
const ZONES_INTERVAL_MS = 15 * 60_000;
/** A scan of a large segment takes at most this share of the time. */
const MAX_SHARE = 0.05;
/** How far back dates are caught up with after a pause or an outage, in milliseconds. */
const CATCH_UP_MS = 24 * 3_600_000;
/** Contacts per statement. */
const PAGE = 5_000;

type SegmentEntry = EntryOf<'segment_entered' | 'segment_left'>;

interface Scan {
  journeyId: string;
  projectId: string;
  key: string;
  scannedAt: Date | null;
  now: Date;
}

const DUE = `
  SELECT s.journey_id AS "journeyId", j.project_id AS "projectId", s.key, s.scanned_at AS "scannedAt", now()
  FROM journey_entry_scans s JOIN journeys j ON j.id = s.journey_id
  WHERE s.journey_id = $1 AND s.due_at <= now() AND j.status = 'active' FOR UPDATE OF s SKIP LOCKED`;

/**
 * Looks for contacts that enter a journey by a segment or a date, if that is due, and leaves them to `processTriggers`. What was
 * found and up to when commit together, so no contact is found twice or missed, whatever is killed. Pauses a journey whose segment
 * was deleted.
 */
export async function scanForEntries(journeyId: string): Promise<void> {
  const { rows } = await pool.query<{ projectId: string; number: number }>(
    `SELECT j.project_id AS "projectId", j.published_version AS number FROM journeys j JOIN journey_entry_scans s ON s.journey_id = j.id
     WHERE j.id = $1 AND j.status = 'active' AND s.due_at <= now()`,
    [journeyId],
  );
  const [journey] = rows;
  if (journey === undefined) return;
  const definition = await definitionOf(pool, journeyId, journey.number);
  try {
    await runCostly(journey.projectId, () => inTransaction((tx) => scan(tx, journeyId, definition)));
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'not_found') throw error;
    await pauseByItself(journeyId, 'The segment by which contacts enter was deleted.');
  }
}

async function scan(tx: Tx, journeyId: string, definition: Definition): Promise<void> {
  const [due] = await sql<Scan>(tx, DUE, [journeyId]);
  const { entry } = definition;
  // Another version was published meanwhile, or another process scans.
  if (due === undefined || due.key !== scanKey(entry)) return;
  const began = performance.now();
  if (entry.type === 'segment_entered' || entry.type === 'segment_left') await scanSegment(tx, due, entry);
  if (entry.type === 'date') await scanDates(tx, due, definition, entry);
  const next = await nextScan(tx, due.now, definition, performance.now() - began);
  await sql(tx, 'UPDATE journey_entry_scans SET scanned_at = $2, due_at = $3 WHERE journey_id = $1', [
    journeyId,
    due.now,
    next,
  ]);
}

async function nextScan(tx: Tx, now: Date, definition: Definition, tookMs: number): Promise<Date> {
  const { entry, timeZoneField } = definition;
  const after = (ms: number) => new Date(now.getTime() + Math.max(ms, tookMs / MAX_SHARE));
  if (entry.type !== 'date') return after(SEGMENT_INTERVAL_MS);
  if (timeZoneField !== undefined) return after(ZONES_INTERVAL_MS);
  const [next] = await nextLocalTimes(tx, [{ time: entry.time, weekdays: EVERY_DAY, zone: zoneOf(definition, {}) }]);
  return next as Date;
}

/** Compares the segment with its members as of the last scan. The first scan only records them. */
async function scanSegment(tx: Tx, { journeyId, projectId, key, scannedAt }: Scan, entry: SegmentEntry): Promise<void> {
  const parameters = new Parameters();
  const [journey, project] = [parameters.add(journeyId), parameters.add(projectId)];
  const condition = await segmentSql(projectId, entry.segmentId, parameters);
  const [triggerKey, isFirst] = [parameters.add(key), parameters.add(scannedAt === null)];
  await sql(tx, 'SET LOCAL enable_nestloop = off');
  await sql(
    tx,
    `WITH current AS MATERIALIZED (
       SELECT c.id FROM contacts c WHERE c.project_id = ${project} AND ${condition}
     ), entered AS (
       INSERT INTO journey_segment_members (journey_id, contact_id)
       SELECT ${journey}, c.id FROM current c
       WHERE NOT EXISTS (SELECT FROM journey_segment_members m WHERE m.journey_id = ${journey} AND m.contact_id = c.id)
       RETURNING contact_id
     ), gone AS (
       DELETE FROM journey_segment_members m WHERE m.journey_id = ${journey} AND NOT EXISTS (SELECT FROM current c WHERE c.id = m.contact_id)
       RETURNING contact_id
     )
     INSERT INTO journey_triggers (journey_id, kind, key, contact_id)
     SELECT ${journey}, 'entry', ${triggerKey}, c.id FROM ${entry.type === 'segment_entered' ? 'entered' : 'gone'} f
     JOIN contacts c ON c.id = f.contact_id WHERE NOT ${isFirst}::boolean`,
    parameters.values,
  );
}

/** Finds the contacts for whom the local time of their date has come since the last scan, page by page. */
async function scanDates(tx: Tx, scan: Scan, definition: Definition, entry: EntryOf<'date'>): Promise<void> {
  const { journeyId, projectId, key, scannedAt, now } = scan;
  const since = Math.max(scannedAt?.getTime() ?? 0, now.getTime() - CATCH_UP_MS);
  const days = localDays(since, now.getTime());
  const dates = days.map((day) => datesOf(day, entry));
  const dayOf = new Map(dates.flatMap((texts, index) => texts.map((text) => [text, days[index] as string])));
  const { timeZoneField } = definition;
  const zoneKey = customFieldKey(timeZoneField ?? '');
  const values = [projectId, customFieldKey(entry.field), [...dayOf.keys()], zoneKey];
  const instants = new Map<string, number>();
  for (let last = ''; ;) {
    const contacts = await sql<{ id: string; date: string; zone: string | null }>(
      tx,
      `SELECT c.id, c.custom_fields->>$2 AS date, c.custom_fields->>$4 AS zone FROM contacts c WHERE c.project_id = $1 AND c.id > $5
         AND ${entry.yearly === true ? 'right(c.custom_fields->>$2, 5)' : 'c.custom_fields->>$2'} = ANY ($3) ORDER BY c.id LIMIT ${PAGE}`,
      [...values, last],
    );
    const occurrences = contacts.flatMap(({ id, date, zone }) => {
      const day = dayOf.get(entry.yearly === true ? date.slice(5) : date);
      if (day === undefined || (entry.yearly === true && dateOf(day, entry).slice(0, 4) <= date.slice(0, 4))) return [];
      return [{ id, date, day, zone: zoneOf(definition, { [zoneKey]: zone }) }];
    });
    await computeInstants(tx, entry.time, occurrences, instants);
    const due = occurrences.filter(({ day, zone }) => {
      const at = instants.get(`${day} ${zone}`) ?? 0;
      return at > since && at <= now.getTime();
    });
    await sql(
      tx,
      `INSERT INTO journey_triggers (journey_id, kind, key, contact_id, properties)
       SELECT $1, 'entry', $2, n.id, jsonb_build_object('date', n.date) FROM unnest($3::text[], $4::text[]) AS n(id, date)`,
      [journeyId, key, due.map(({ id }) => id), due.map(({ date }) => date)],
    );
    if (contacts.length < PAGE) return;
    last = contacts.at(-1)?.id as string;
  }
}

/** Computes the instants of a time of day on days in zones that `known` lacks. */
async function computeInstants(
  tx: Tx,
  time: string,
  occurrences: readonly { day: string; zone: string }[],
  known: Map<string, number>,
): Promise<void> {
  const missing = [...new Set(occurrences.map(({ day, zone }) => `${day} ${zone}`))].filter((each) => !known.has(each));
  if (missing.length === 0) return;
  const pairs = missing.map((each) => each.split(' '));
  const rows = await sql<{ day: string; zone: string; at: Date }>(
    tx,
    `SELECT n.day, n.zone, (n.day::date + $3::time) AT TIME ZONE n.zone AS at FROM unnest($1::text[], $2::text[]) AS n(day, zone)`,
    [pairs.map(([day]) => day), pairs.map(([, zone]) => zone), time],
  );
  for (const { day, zone, at } of rows) known.set(`${day} ${zone}`, at.getTime());
}
