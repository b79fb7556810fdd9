/**
 * Campaigns that are sent at a local time: at nine in the morning, say, in the time zone of each recipient. The recipient snapshot writes the
 * instant of that time into `not_before` of each message, and the run of the campaign and its shards claim messages as they become due.
 */
import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { type Parameters, schemaOf, timeZoneFieldProblem } from '@postroom/contacts';
import { scheduleProblem } from '@postroom/emails';
import { customFieldKey, zoneOf } from '@postroom/journey-definition';
import {
  assertValid,
  batchLoader,
  databaseNow,
  type FieldProblem,
  invalid,
  isTimeZone,
  localInstant,
  pool,
} from '@postroom/platform';
import type pg from 'pg';

/** When a campaign starts: at an instant, or at a local time. */
export interface ScheduleInput {
  scheduledAt?: Date | null | undefined;
  /** Such as `2026-12-01T09:00`. */
  localTime?: string | null | undefined;
  /** The time zone of recipients without a valid one in `timeZoneField`; UTC by default. */
  timeZone?: string | null | undefined;
  /** The custom field with a contact's time zone. */
  timeZoneField?: string | null | undefined;
}

/** What a campaign knows of its local time: nothing, if it was scheduled for an instant. */
interface LocalTime {
  localTime: string | null;
  timeZone: string | null;
  timeZoneField: string | null;
}

export const NO_LOCAL_TIME: LocalTime = { localTime: null, timeZone: null, timeZoneField: null };

/** A local time comes first where clocks are 14 hours ahead of UTC. No zone is further ahead. */
const FIRST_ZONE = 'Etc/GMT-14';

/**
 * Reads the schedule of a campaign. With a field for time zones it starts as soon as its local time comes anywhere, or now if that was before.
 * @throws DomainError `validation_error` naming each bad field. A local time must be in the future in the default time zone.
 */
export async function readSchedule(
  projectId: string,
  input: ScheduleInput,
): Promise<{ scheduledAt: Date } & LocalTime> {
  const { scheduledAt, localTime, timeZone, timeZoneField } = input;
  if (localTime == null) {
    assertValid(
      (['timeZone', 'timeZoneField'] as const).flatMap((field) =>
        input[field] == null ? [] : [{ field, message: 'requires localTime' }],
      ),
    );
    if (scheduledAt == null) throw invalid({ field: 'scheduledAt', message: 'is required, unless localTime is given' });
    const problem = scheduleProblem(scheduledAt);
    if (problem !== undefined) throw invalid({ field: 'scheduledAt', message: problem });
    return { scheduledAt, ...NO_LOCAL_TIME };
  }
  if (scheduledAt != null) throw invalid({ field: 'localTime', message: 'must not be combined with scheduledAt' });
  const zone = timeZone ?? 'UTC';
  const key = timeZoneField == null ? null : customFieldKey(timeZoneField);
  const fieldProblem = key === null ? undefined : timeZoneFieldProblem(await schemaOf(projectId), key);
  assertValid([
    ...localTimeProblems(localTime),
    ...(isTimeZone(zone) ? [] : [{ field: 'timeZone', message: 'must be a time zone such as Europe/Berlin' }]),
    ...(fieldProblem === undefined ? [] : [{ field: 'timeZoneField', message: fieldProblem }]),
  ]);
  const at = instantOf(localTime, zone);
  const problem = scheduleProblem(new Date(at));
  if (problem !== undefined) throw invalid({ field: 'localTime', message: `${problem} in ${zone}` });
  const first = key === null ? at : Math.min(at, instantOf(localTime, FIRST_ZONE));
  return {
    scheduledAt: new Date(Math.max(first, databaseNow())),
    localTime,
    timeZone: zone,
    timeZoneField: key,
  };
}

function localTimeProblems(localTime: string): FieldProblem[] {
  const at = new Date(`${localTime}:00Z`);
  // JavaScript reads 30 February as 2 March.
  const isTime = !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 16) === localTime;
  const message = 'must be a local date and time without an offset, such as 2026-12-01T09:00';
  return isTime ? [] : [{ field: 'localTime', message }];
}

/** The instant of a local time in a time zone, as a Unix time in milliseconds. */
function instantOf(localTime: string, zone: string): number {
  const [day = '', time = ''] = localTime.split('T');
  return localInstant(day, time, zone);
}

/** Longer values can't be the name of a time zone. */
export const MAX_ZONE_LENGTH = 64;
/** Time zones after which other work of the process gets a turn. */
const ZONES_PER_TURN = 50;

/**
 * SQL of when the message to contact `c` is due, for the contacts after `from`, up to and including `to`; NULL if it is now. Undefined
 * without a field for time zones: then all are due at the start, which is at the local time.
 */
export async function dueAtSql(
  client: pg.ClientBase,
  { projectId, localTime, timeZone, timeZoneField }: LocalTime & { projectId: string },
  { from, to }: { from: string; to: string },
  parameters: Parameters,
): Promise<string | undefined> {
  if (localTime === null || timeZone === null || timeZoneField === null) return undefined;
  const { rows } = await client.query<{ value: string }>(
    `SELECT DISTINCT c.custom_fields->>$4 AS value FROM contacts c
     WHERE c.project_id = $1 AND c.id > $2 AND c.id <= $3 AND length(c.custom_fields->>$4) <= ${MAX_ZONE_LENGTH}`,
    [projectId, from, to, timeZoneField],
  );
  const instants: Record<string, string> = {};
  const iso = (zone: string) => new Date(instantOf(localTime, zone)).toISOString();
  for (const [index, { value }] of rows.entries()) {
    if (index % ZONES_PER_TURN === 0) await untilNextTurn();
    const zone = zoneOf({ timeZone, timeZoneField }, { [timeZoneField]: value });
    if (zone !== timeZone) instants[value] = iso(zone);
  }
  const own = `${parameters.add(JSON.stringify(instants))}::jsonb->>(c.custom_fields->>${parameters.add(timeZoneField)})`;
  return `nullif(greatest(coalesce(${own}, ${parameters.add(iso(timeZone))})::timestamptz, now()), now())`;
}

/**
 * A statement that adds the messages of `insert`, and counts those that wait by their time, so that no one has to count a million messages
 * later. Its result is the number of all, as `recipients`.
 * @param campaign SQL of the campaign's id.
 */
export const insertCounted = (insert: string, campaign: string): string => `
  WITH inserted AS (
    ${insert} RETURNING not_before
  ), counted AS (
    INSERT INTO campaign_local_times AS t (campaign_id, at, messages)
    SELECT ${campaign}, not_before, count(*) FROM inserted WHERE not_before IS NOT NULL GROUP BY not_before
    ON CONFLICT (campaign_id, at) DO UPDATE SET messages = t.messages + excluded.messages
  )
  SELECT count(*)::int AS recipients FROM inserted`;

/** Messages of a campaign that wait for the local time of their recipients. */
export interface AwaitingLocalTime {
  /** Their number when the recipients were counted. */
  messages: number;
  /** When the next of them are due. */
  nextAt: Date;
}

async function readAwaiting(campaignIds: readonly string[]): Promise<Map<string, AwaitingLocalTime>> {
  const { rows } = await pool.query<AwaitingLocalTime & { id: string }>(
    `SELECT campaign_id AS id, sum(messages)::int AS messages, min(at) AS "nextAt" FROM campaign_local_times
     WHERE campaign_id = ANY ($1) AND at > now() GROUP BY campaign_id`,
    [campaignIds],
  );
  return new Map(rows.map(({ id, ...awaiting }) => [id, awaiting]));
}

/** What waits of campaigns that have messages for later local times. */
export const loadAwaitingLocalTime = batchLoader((_request: object, campaignIds) => readAwaiting([...campaignIds]));

/** The same for one campaign; undefined if nothing waits. */
export const awaitingLocalTime = async (campaignId: string): Promise<AwaitingLocalTime | undefined> =>
  (await readAwaiting([campaignId])).get(campaignId);
