import { DECLARED_DEFAULTS } from '@postroom/custom-events/sql';
import { customFieldKey, type Definition, scanKey, withDefaults, zoneOf } from '@postroom/journey-definition';
import { dateEntries } from '@postroom/journeys';
import { countsForFrequencyCap } from '@postroom/ledger/sql';
import { pool } from '@postroom/platform';
import type { ContactFacts, Fact } from './simulate.ts';

/** The most events of a contact that are read. */
const MAX_EVENTS = 1_000;

/** What to read of a page of contacts. */
export interface Scope {
  projectId: string;
  journeyId: string | null;
  definitions: readonly Definition[];
  from: Date;
  until: Date;
  /** Days of the longest frequency cap; 0 without one. */
  capDays: number;
}

interface ContactRow {
  id: string;
  emailKey: string;
  customFields: Record<string, unknown>;
}

/** A page of contacts with everything known about them, except for facts that depend on the definition. */
export interface FactsPage {
  contacts: (Omit<ContactFacts, 'facts'> & {
    events: Fact[];
    joins: Fact[];
    confirmations: Fact[];
    enrollments: Fact[];
  })[];
  eventCount: number;
  /** How many contacts had more events than are read. */
  truncated: number;
}

const CONTACTS = `
  SELECT id, email_key AS "emailKey", custom_fields AS "customFields" FROM contacts
  WHERE project_id = $1 AND id > $2 AND created_at <= $3 ORDER BY id LIMIT $4`;

/** The oldest first; each contact is looked up by index. Properties are read only of events with conditions on them. */
const EVENTS = `
  SELECT k.id AS "contactId", e.name AS key, extract(epoch FROM e.occurred_at)::float8 * 1000 AS at,
    CASE WHEN e.name = ANY ($6) THEN e.properties END AS raw
  FROM unnest($2::text[]) AS k(id) JOIN LATERAL (
    SELECT c.name, c.occurred_at, c.id, c.properties FROM custom_events c
     WHERE c.project_id = $1 AND c.contact_id = k.id AND c.occurred_at > $3 AND c.occurred_at <= $4 AND c.name || '' = ANY ($5)
     ORDER BY c.occurred_at, c.id LIMIT ${MAX_EVENTS + 1}
  ) AS e ON true ORDER BY k.id, e.occurred_at, e.id`;

const JOINS = `
  SELECT contact_id AS "contactId", group_id AS key, extract(epoch FROM joined_at)::float8 * 1000 AS at FROM group_members
  WHERE contact_id = ANY ($1) AND group_id = ANY ($2) AND joined_at > $3 AND joined_at <= $4`;

const CONFIRMATIONS = `
  SELECT contact_id AS "contactId", form_id AS key, extract(epoch FROM confirmed_at)::float8 * 1000 AS at FROM form_submissions
  WHERE contact_id = ANY ($1) AND form_id = ANY ($2) AND confirmed_at > $3 AND confirmed_at <= $4`;

const ENROLLMENTS = `
  SELECT contact_id AS "contactId", extract(epoch FROM entered_at)::float8 * 1000 AS at, properties FROM enrollments
  WHERE journey_id = $1 AND contact_id = ANY ($2) AND entered_at > $3 AND entered_at <= $4`;

const SUPPRESSIONS = `
  SELECT email_key AS key, reason::text, extract(epoch FROM created_at)::float8 * 1000 AS at FROM suppressions
  WHERE project_id = $1 AND email_key = ANY ($2)`;

const MAIL = `
  SELECT m.contact_id AS "contactId", extract(epoch FROM coalesce(m.claimed_at, m.created_at))::float8 * 1000 AS at FROM messages m
  WHERE m.contact_id = ANY ($1) AND ${countsForFrequencyCap('m')} AND coalesce(m.claimed_at, m.created_at) > $2
    AND m.metadata ->> 'journey_id' IS DISTINCT FROM $3`;

/** The names of events that a definition reacts to, and of those with conditions on properties. */
function eventsOf({ entry, goal, steps }: Definition): { names: string[]; withProperties: string[] } {
  const waits = steps.filter((step) => step.type === 'wait_for_event');
  const usesEntry = steps.some((step) => step.type === 'condition' && step.where !== undefined);
  const all = [
    ...(entry.type === 'event' ? [{ event: entry.event, where: usesEntry ? [] : entry.where }] : []),
    ...(goal === undefined ? [] : [goal]),
    ...waits,
  ];
  return {
    names: all.map(({ event }) => event),
    withProperties: all.filter(({ where }) => where !== undefined).map(({ event }) => event),
  };
}

/** Reads the next contacts after a cursor, by id, and what happened to them. */
export async function readFacts(scope: Scope, cursor: string, limit: number): Promise<FactsPage> {
  const { projectId, journeyId, definitions, from, until, capDays } = scope;
  const { rows: contacts } = await pool.query<ContactRow>({
    name: 'backtest-contacts',
    text: CONTACTS,
    values: [projectId, cursor, until, limit],
  });
  const ids = contacts.map(({ id }) => id);
  const used = definitions.map(eventsOf);
  const names = [...new Set(used.flatMap((each) => each.names))];
  const groups = definitions.flatMap(({ entry }) => (entry.type === 'group_joined' ? [entry.groupId] : []));
  const forms = definitions.flatMap(({ entry }) => (entry.type === 'form_confirmed' ? [entry.formId] : []));
  const isRecorded = journeyId !== null && definitions.some(({ entry }) => isEnteredByHand(entry.type));
  const read = async <Row extends object>(when: boolean, text: string, values: unknown[]): Promise<Row[]> =>
    when && ids.length > 0 ? (await pool.query<Row>(text, values)).rows : [];
  type Of = { contactId: string; at: number };
  const [events, joins, confirmations, enrollments, suppressions, mail, defaults] = await Promise.all([
    read<Of & { key: string; raw: Record<string, unknown> | null }>(names.length > 0, EVENTS, [
      projectId,
      ids,
      from,
      until,
      names,
      [...new Set(used.flatMap((each) => each.withProperties))],
    ]),
    read<Of & { key: string }>(groups.length > 0, JOINS, [ids, groups, from, until]),
    read<Of & { key: string }>(forms.length > 0, CONFIRMATIONS, [ids, forms, from, until]),
    read<Of & { properties: Record<string, unknown> }>(isRecorded, ENROLLMENTS, [journeyId, ids, from, until]),
    read<{ key: string; reason: string; at: number }>(true, SUPPRESSIONS, [
      projectId,
      contacts.map(({ emailKey }) => emailKey),
    ]),
    read<Of>(capDays > 0, MAIL, [ids, new Date(from.getTime() - capDays * 86_400_000), journeyId]),
    read<{ event: string; name: string; value: unknown }>(names.length > 0, DECLARED_DEFAULTS, [projectId, names]),
  ]);
  const defaultsOf = Map.groupBy(defaults, ({ event }) => event);
  const byContact = <Row extends Of>(rows: readonly Row[]) => Map.groupBy(rows, ({ contactId }) => contactId);
  const [eventsBy, joinsBy, confirmationsBy, enrollmentsBy, mailBy] = [
    byContact(events),
    byContact(joins),
    byContact(confirmations),
    byContact(enrollments),
    byContact(mail),
  ];
  const suppressionsBy = Map.groupBy(suppressions, ({ key }) => key);
  let truncated = 0;
  const page = contacts.map(({ id, emailKey, customFields }) => {
    const own = eventsBy.get(id) ?? [];
    if (own.length > MAX_EVENTS) truncated++;
    return {
      id,
      customFields,
      events: own.slice(0, MAX_EVENTS).map(({ key, at, raw }): Fact => {
        const properties = raw ?? {};
        return {
          kind: 'event',
          key,
          at,
          raw: properties,
          properties: withDefaults(properties, defaultsOf.get(key) ?? []),
        };
      }),
      joins: (joinsBy.get(id) ?? []).map(({ key, at }): Fact => ({ kind: 'group', key, at, properties: {} })),
      confirmations: (confirmationsBy.get(id) ?? []).map(({ key, at }): Fact => ({
        kind: 'form',
        key,
        at,
        properties: { form_id: key },
      })),
      enrollments: (enrollmentsBy.get(id) ?? []).map(({ at, properties }): Fact => ({
        kind: 'entry',
        key: '',
        at,
        properties,
        isEnrollment: true,
      })),
      suppressions: suppressionsBy.get(emailKey) ?? [],
      mail: (mailBy.get(id) ?? []).map(({ at }) => at),
    };
  });
  return { contacts: page, eventCount: events.length, truncated };
}

/** Whether nothing else records who entered than the runs of the journey. */
export const isEnteredByHand = (type: Definition['entry']['type']): boolean =>
  type === 'manual' || type === 'segment_entered' || type === 'segment_left';

/**
 * The facts of a contact for a definition, in order. Events come first of those at the same time, as in real execution.
 * @param startsIn whether the contact enters at the beginning.
 */
export function factsFor(
  definition: Definition,
  contact: FactsPage['contacts'][number],
  { from, until, startsIn }: { from: number; until: number; startsIn: boolean },
): ContactFacts {
  const { entry } = definition;
  const { events, joins, confirmations, enrollments, ...known } = contact;
  const entries: Fact[] = isEnteredByHand(entry.type) ? [...enrollments] : [];
  if (entry.type === 'date') {
    const date = contact.customFields[customFieldKey(entry.field)];
    const zone = zoneOf(definition, contact.customFields);
    if (typeof date === 'string')
      for (const at of dateEntries(date, { entry, zone, since: from, until }))
        entries.push({ kind: 'entry', key: scanKey(entry) ?? '', at, properties: { date } });
  }
  if (startsIn) entries.push({ kind: 'entry', key: '', at: from, properties: {}, isEnrollment: true });
  return { ...known, facts: [...events, ...joins, ...confirmations, ...entries].toSorted((a, b) => a.at - b.at) };
}
