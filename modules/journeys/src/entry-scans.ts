import { checkNames, compileFilter, getSegment, Parameters, readSchema } from '@postroom/contacts';
import {
  DomainError,
  inTransaction,
  invalid,
  localInstant,
  NOW,
  pool,
  runCostly,
  sql,
  type Tx,
} from '@postroom/platform';
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
import { nobodyEnters, pauseAutomatically, readActive } from './journeys.ts';
import { nextLocalTime } from './local-time.ts';
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
  WHERE s.journey_id = $1 AND s.due_at <= ${NOW} AND j.status = 'active' FOR UPDATE OF s SKIP LOCKED`;

/**
 * Looks for contacts that enter a journey by a segment or a date, if that is due, and leaves them to `processTriggers`. What was
 * found and up to when commit together, so no contact is found twice or missed, whatever is killed. Pauses a journey whose segment or
 * custom field, or a group that the segment names, was deleted.
 */
export async function scanForEntries(journeyId: string): Promise<void> {
  const { rowCount } = await pool.query(`SELECT FROM journey_entry_scans WHERE journey_id = $1 AND due_at <= ${NOW}`, [
    journeyId,
  ]);
  const journey = rowCount === 0 ? undefined : await readActive(journeyId);
  if (journey === undefined) return;
  const definition = await definitionOf(pool, journeyId, journey.publishedVersion);
  try {
    await runCostly(journey.projectId, () => inTransaction((tx) => scan(tx, journeyId, definition)));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code !== 'not_found' && error.code !== 'validation_error') throw error;
    const [problem] = error.details;
    const reason = problem === undefined ? 'The segment by which contacts enter was deleted.' : nobodyEnters(problem);
    await pauseAutomatically(journey, reason);
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
  const next = nextScan(due.now, definition, performance.now() - began);
  await sql(tx, 'UPDATE journey_entry_scans SET scanned_at = $2, due_at = $3 WHERE journey_id = $1', [
    journeyId,
    due.now,
    next,
  ]);
}

function nextScan(now: Date, definition: Definition, tookMs: number): Date {
  const { entry, timeZoneField } = definition;
  const after = (ms: number) => new Date(now.getTime() + Math.max(ms, tookMs / MAX_SHARE));
  if (entry.type !== 'date') return after(SEGMENT_INTERVAL_MS);
  if (timeZoneField !== undefined) return after(ZONES_INTERVAL_MS);
  return nextLocalTime({ time: entry.time, weekdays: EVERY_DAY, zone: zoneOf(definition, {}) }, now.getTime());
}

/** Compares the segment with its members as of the last scan. The first scan only records them. */
async function scanSegment(tx: Tx, { journeyId, projectId, key, scannedAt }: Scan, entry: SegmentEntry): Promise<void> {
  const parameters = new Parameters();
  const [journey, project] = [parameters.add(journeyId), parameters.add(projectId)];
  const { filter } = await getSegment(projectId, entry.segmentId);
  const condition = compileFilter(filter, parameters);
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
  await checkNames(tx, projectId, [{ field: 'entry.segmentId', filter }]);
}

/** Finds the contacts for whom the local time of their date has come since the last scan, page by page. */
async function scanDates(tx: Tx, scan: Scan, definition: Definition, entry: EntryOf<'date'>): Promise<void> {
  const { journeyId, projectId, key, scannedAt, now } = scan;
  const since = Math.max(scannedAt?.getTime() ?? 0, now.getTime() - CATCH_UP_MS);
  const until = now.getTime();
  const dates = [...new Set(localDays(since, until).flatMap((day) => datesOf(day, entry)))];
  const fieldKey = customFieldKey(entry.field);
  if (!(await readSchema(tx, projectId)).has(fieldKey))
    throw invalid({ field: 'entry.field', message: `is the custom field "${fieldKey}", which was deleted` });
  const { timeZoneField } = definition;
  const zoneKey = customFieldKey(timeZoneField ?? '');
  const values = [projectId, fieldKey, dates, zoneKey];
  for (let last = ''; ;) {
    const contacts = await sql<{ id: string; date: string; zone: string | null }>(
      tx,
      `SELECT c.id, c.custom_fields->>$2 AS date, c.custom_fields->>$4 AS zone FROM contacts c WHERE c.project_id = $1 AND c.id > $5
         AND ${entry.yearly === true ? 'right(c.custom_fields->>$2, 5)' : 'c.custom_fields->>$2'} = ANY ($3) ORDER BY c.id LIMIT ${PAGE}`,
      [...values, last],
    );
    const due = contacts.filter(({ date, zone }) => {
      const own = zoneOf(definition, { [zoneKey]: zone });
      return dateEntries(date, { entry, zone: own, since, until }).length > 0;
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

/** When a contact enters by its date, later than `since` and not after `until`, in milliseconds. */
export function dateEntries(
  date: string,
  { entry, zone, since, until }: { entry: EntryOf<'date'>; zone: string; since: number; until: number },
): number[] {
  return (
    localDays(since, until)
      .filter((day) => datesOf(day, entry).includes(entry.yearly === true ? date.slice(5) : date))
      // A yearly entry is not in the year of the date itself.
      .filter((day) => entry.yearly !== true || dateOf(day, entry).slice(0, 4) > date.slice(0, 4))
      .map((day) => localInstant(day, entry.time, zone))
      .filter((at) => at > since && at <= until)
  );
}
