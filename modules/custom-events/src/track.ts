import { lockContacts, retryOnCollision, shareSuppressions, SUPPRESSED, writeContacts } from '@postroom/contacts';
import {
  CHECK_VIOLATION,
  coalesceByProject,
  databaseNow,
  defineIdPrefix,
  DomainError,
  type FieldProblem,
  hasCode,
  inTransaction,
  invalid,
  newIdAt,
  record,
  sql,
  type Tx,
} from '@postroom/platform';
import { IS_SUBSCRIBED } from '@postroom/webhooks/sql';
import { type CheckedEvent, checkEvent, type EventInput } from './check-event.ts';
import { extendSchema, MAX_EVENT_NAMES, readSchema, schemaProblem } from './event-schema.ts';
import { customEventReceived, RECEIVED } from './events.ts';
import { createPartitions } from './partitions.ts';

export const EVENT_ID = defineIdPrefix('cev', 'custom event');

/** Maximum number of events in a request. */
export const MAX_EVENTS = 1000;

/** A request: one event, or several. */
export interface TrackInput extends EventInput {
  events?: readonly EventInput[] | null | undefined;
}

/** The outcome of an event. A duplicate has the id of the event that came first. */
type Outcome =
  | { status: 'accepted' | 'duplicate'; id: string | null }
  | { status: 'error'; id: null; error: FieldProblem };

/** The outcome of one event of a request, in the order of the request. */
export type TrackResult = Outcome & { index: number };

/**
 * Stores events that contacts caused. Events of a request are independent: a bad one is reported in its result, by the path of
 * the field in the request, and does not block the others. All results are committed when this returns. An event with the
 * `id` of an earlier one is a duplicate, and not stored again.
 * @throws DomainError `validation_error` if there are none or too many, or if the request is a single bad event.
 */
export async function trackEvents(projectId: string, { events, ...single }: TrackInput): Promise<TrackResult[]> {
  const inputs = events ?? [single];
  if (events != null) {
    const surplus = Object.entries(single).find(([, value]) => value != null);
    if (surplus !== undefined) throw invalid({ field: surplus[0], message: 'must not be combined with events' });
    if (events.length === 0 || events.length > MAX_EVENTS)
      throw invalid({ field: 'events', message: `must be 1 to ${MAX_EVENTS} events` });
  }
  const now = databaseNow();
  const outcomes = await Promise.all(inputs.map((input) => trackOne(projectId, input, now)));
  return outcomes.map((outcome, index) => {
    if (outcome.status !== 'error') return { ...outcome, index };
    const { error } = outcome;
    if (events == null) throw invalid(error);
    return { ...outcome, error: { ...error, field: `events.${index}.${error.field}` }, index };
  });
}

async function trackOne(projectId: string, input: EventInput, now: number): Promise<Outcome> {
  try {
    return await write({ ...checkEvent(input, now), projectId });
  } catch (error) {
    const problem = error instanceof DomainError ? error.details[0] : undefined;
    if (problem === undefined) throw error;
    return failed(problem);
  }
}

const failed = (error: FieldProblem): Outcome => ({ status: 'error', id: null, error });

interface NewEvent extends CheckedEvent {
  projectId: string;
}

/** Concurrent events of a project share a transaction. */
const write = coalesceByProject<NewEvent, Outcome>(
  ({ projectId }) => projectId,
  async (events) => {
    const { projectId } = events[0] as NewEvent;
    const insert = () => retryOnCollision(() => inTransaction((tx) => writeEvents(tx, projectId, events)));
    try {
      return await insert();
    } catch (error) {
      // No worker has created partitions for months.
      if (!hasCode(error, CHECK_VIOLATION)) throw error;
      await createPartitions();
      return insert();
    }
  },
);

/** A valid event of a batch: its place, the id of its row, and its contact. */
interface Placed {
  index: number;
  event: NewEvent;
  id: string;
  contactId: string;
  email: string;
}

/**
 * Every transaction takes its locks in the same order, so that they can't deadlock: contacts, the schema, keys, days of
 * contacts, days; within a table in the order of its key.
 */
async function writeEvents(tx: Tx, projectId: string, events: readonly NewEvent[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const fail = (index: number, error: FieldProblem) => void (outcomes[index] = failed(error));

  const schema = await readSchema(tx, projectId, [...new Set(events.map(({ name }) => name))]);
  const matching = [...events.entries()].filter(([index, event]) => {
    const problem = schemaProblem(schema, event);
    if (problem !== undefined) fail(index, problem);
    return problem === undefined;
  });
  const contactOf = await findContacts(
    tx,
    projectId,
    matching.map(([, event]) => event),
  );
  const withContact = matching.flatMap(([index, event]): Placed[] => {
    const contact = contactOf(event);
    if ('email' in contact)
      return [{ index, event, id: newIdAt(EVENT_ID, event.occurredAt), contactId: contact.id, email: contact.email }];
    fail(index, contact.problem);
    return [];
  });

  const { refused } = await extendSchema(
    tx,
    projectId,
    schema,
    withContact.map(({ event }) => event),
  );
  const named = withContact.filter(({ index, event }) => {
    if (refused.has(event.name)) fail(index, NAMES_FULL);
    return !refused.has(event.name);
  });

  const fresh = await claimKeys(tx, projectId, named, (index, id) => (outcomes[index] = { status: 'duplicate', id }));
  for (const { index, id } of fresh) outcomes[index] = { status: 'accepted', id };
  if (fresh.length > 0) await insertEvents(tx, projectId, fresh);
  return outcomes;
}

const NAMES_FULL: FieldProblem = {
  field: 'name',
  message: `is new, and the project already has ${MAX_EVENT_NAMES} event names; put what varies into a property`,
};
const UNKNOWN_ID: FieldProblem = { field: 'contactId', message: 'is not a contact of this project' };
const UNKNOWN_EMAIL: FieldProblem = {
  field: 'email',
  message: 'is not the address of a contact of this project; set createContact to add it',
};

type Found = { id: string; email: string } | { problem: FieldProblem };

/** Locks the contacts of events until the commit, so that none is deleted meanwhile, and creates those that may be created. */
async function findContacts(
  tx: Tx,
  projectId: string,
  events: readonly CheckedEvent[],
): Promise<(event: CheckedEvent) => Found> {
  const ids = new Set<string>();
  const addresses = new Map<string, { email: string; create: boolean }>();
  for (const { contact } of events) {
    if ('id' in contact) ids.add(contact.id);
    else
      addresses.set(contact.emailKey, {
        email: contact.email,
        create: contact.create || addresses.get(contact.emailKey)?.create === true,
      });
  }
  const byId = new Map<string, { id: string; email: string }>();
  const byKey = new Map<string, { id: string; email: string }>();
  const lock = async (keys: readonly string[]) => {
    for (const { emailKey, ...contact } of await lockContacts(tx, projectId, { ids: [...ids], keys })) {
      byId.set(contact.id, contact);
      byKey.set(emailKey, contact);
    }
  };
  if ([...addresses.values()].some(({ create }) => create)) await shareSuppressions(tx, projectId);
  await lock([...addresses.keys()]);
  const missing = [...addresses].filter(([key, { create }]) => create && !byKey.has(key));
  if (missing.length > 0) {
    await writeContacts(
      tx,
      projectId,
      missing.map(([key, { email }]) => ({ email, key, name: undefined, customFields: {}, cleared: [] })),
      { onConflict: 'skip', source: 'api' },
    );
    await lock(missing.map(([key]) => key));
  }
  return ({ contact }) => {
    if ('id' in contact) return byId.get(contact.id) ?? { problem: UNKNOWN_ID };
    return byKey.get(contact.emailKey) ?? { problem: contact.create ? SUPPRESSED : UNKNOWN_EMAIL };
  };
}

const CLAIM_KEYS = `
  INSERT INTO custom_event_keys (project_id, key, event_id, contact_id)
  SELECT $1, n.key, n.id, n.contact FROM unnest($2::text[], $3::text[], $4::text[]) AS n(key, id, contact) ORDER BY n.key
  ON CONFLICT (project_id, key) DO NOTHING RETURNING key`;

/** Claims the keys of events; returns the events whose key is new, and those without one. Others are duplicates. */
async function claimKeys(
  tx: Tx,
  projectId: string,
  events: readonly Placed[],
  isDuplicate: (index: number, id: string | null) => void,
): Promise<Placed[]> {
  const firsts = new Map<string, Placed>();
  for (const placed of events) {
    const { key } = placed.event;
    if (key !== undefined && !firsts.has(key)) firsts.set(key, placed);
  }
  if (firsts.size === 0) return [...events];
  const claims = [...firsts];
  const claimed = await sql<{ key: string }>(tx, CLAIM_KEYS, [
    projectId,
    claims.map(([key]) => key),
    claims.map(([, { id }]) => id),
    claims.map(([, { contactId }]) => contactId),
  ]);
  const own = new Set(claimed.map(({ key }) => key));
  const taken = claims.flatMap(([key]) => (own.has(key) ? [] : [key]));
  const earlier = new Map(claims.flatMap(([key, { id }]) => (own.has(key) ? [[key, id] as const] : [])));
  if (taken.length > 0) {
    const rows = await sql<{ key: string; id: string }>(
      tx,
      'SELECT key, event_id AS id FROM custom_event_keys WHERE project_id = $1 AND key = ANY ($2)',
      [projectId, taken],
    );
    for (const { key, id } of rows) earlier.set(key, id);
  }
  return events.filter((placed) => {
    const { key } = placed.event;
    if (key === undefined || (own.has(key) && firsts.get(key) === placed)) return true;
    isDuplicate(placed.index, earlier.get(key) ?? null);
    return false;
  });
}

/** Texts without line breaks are passed as lines, which parse faster than an array. */
const INSERT = `
  WITH given AS MATERIALIZED (
    SELECT * FROM unnest(string_to_array($2, E'\\n'), string_to_array($3, E'\\n'), string_to_array($4, E'\\n'),
      string_to_array($5, E'\\n')::jsonb[], string_to_array($6, E'\\n')::timestamptz[]) AS n(id, contact_id, name, properties, at)
  ), inserted AS (
    INSERT INTO custom_events (project_id, occurred_at, id, contact_id, name, properties)
    SELECT $1, at, id, contact_id, name, properties FROM given
  )
  INSERT INTO custom_event_contact_days AS d (project_id, name, day, contact_id, event_count, first_at, last_at)
  SELECT $1, name, (at AT TIME ZONE 'UTC')::date, contact_id, count(*), min(at), max(at) FROM given GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
  ON CONFLICT (project_id, name, day, contact_id) DO UPDATE SET event_count = d.event_count + excluded.event_count,
    first_at = least(d.first_at, excluded.first_at), last_at = greatest(d.last_at, excluded.last_at)`;

/** Last, because concurrent transactions of a project wait here. */
const COUNT = `
  INSERT INTO custom_event_days AS d (project_id, name, day, event_count)
  SELECT $1, n.name, (n.at AT TIME ZONE 'UTC')::date, count(*)
    FROM unnest($2::text[], $3::timestamptz[]) AS n(name, at) GROUP BY 2, 3 ORDER BY 2, 3
  ON CONFLICT (project_id, name, day) DO UPDATE SET event_count = d.event_count + excluded.event_count`;

async function insertEvents(tx: Tx, projectId: string, events: readonly Placed[]): Promise<void> {
  const names = events.map(({ event }) => event.name);
  const times = events.map(({ event }) => event.occurredAt.toISOString());
  await sql(tx, INSERT, [
    projectId,
    events.map(({ id }) => id).join('\n'),
    events.map(({ contactId }) => contactId).join('\n'),
    names.join('\n'),
    events.map(({ event }) => event.json).join('\n'),
    times.join('\n'),
  ]);
  const [subscribed] = await sql<{ found: boolean }>(tx, `SELECT ${IS_SUBSCRIBED} AS found`, [projectId, RECEIVED]);
  if (subscribed?.found === true) await record(tx, projectId, events.map(customEventReceived));
  await sql(tx, COUNT, [projectId, names, times]);
}
