import {
  databaseTime,
  DEADLOCK,
  DomainError,
  emailKey,
  type FieldProblem,
  invalid,
  newId,
  record,
  recordSelected,
  retryOn,
  sql,
  type Tx,
  UNIQUE_VIOLATION,
} from '@postroom/platform';
import { checkEmail, checkName, type ContactSource, NEXT_UPDATED_AT } from './contacts.ts';
import {
  coerceValues,
  type CustomFieldValues,
  MAX_VALUES_LENGTH,
  type Schema,
  VALUES_TOO_LONG,
} from '@postroom/custom-fields';
import { type ContactFacts, contactUpdated, FACTS_COLUMNS, FACTS_SQL } from './events.ts';
import { findSuppressedKeys, shareSuppressions } from './suppressions.ts';

/** What to do with a row whose contact exists: nothing, or write its name and custom fields. */
export const ON_CONFLICT = ['skip', 'update'] as const;
export type OnConflict = (typeof ON_CONFLICT)[number];

/** A contact as provided by a request or a file. */
export interface ContactRow {
  email?: string | null | undefined;
  name?: string | null | undefined;
  customFields?: unknown;
}

/** A validated row. */
export interface CheckedContact {
  email: string;
  key: string;
  name: string | undefined;
  customFields: CustomFieldValues;
  /** The custom fields that the row explicitly clears. */
  cleared: string[];
}

/** The result of a row; `changed` when an existing contact was modified. */
export type WrittenContact =
  | { status: 'created'; id: string }
  | { status: 'existing'; id: string; changed: boolean; renamed: boolean }
  | { status: 'suppressed' };

/** Validates and coerces a row; returns its problems if there are any. */
export function checkContact(row: ContactRow, schema: Schema): CheckedContact | FieldProblem[] {
  const { contact, problems } = readContact(row, schema);
  return contact === undefined || problems.length > 0 ? problems : contact;
}

/** The contact of a row without its invalid values, and what is wrong with them; no contact without a valid address. */
export function readContact(
  row: ContactRow,
  schema: Schema,
): { contact: CheckedContact | undefined; problems: FieldProblem[] } {
  const problems: FieldProblem[] = [];
  const email = row.email == null ? undefined : orProblem(problems, () => checkEmail(row.email as string));
  if (row.email == null)
    problems.push({ field: 'email', message: row.email === null ? 'must not be null' : 'is required' });
  const name = orProblem(problems, () => checkName(row.name));
  const coerced = coerceValues(row.customFields, schema);
  problems.push(...coerced.problems);
  if (email === undefined) return { contact: undefined, problems };
  const { values, cleared } = coerced;
  return { contact: { email, key: emailKey(email), name, customFields: values, cleared }, problems };
}

function orProblem<T>(problems: FieldProblem[], check: () => T): T | undefined {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    problems.push(...error.details);
    return undefined;
  }
}

interface WriteOptions {
  onConflict: OnConflict;
  source: ContactSource;
  /**
   * Assumes that all addresses are new, which is faster; the transaction fails if one is not: see `retryOnCollision`.
   */
  optimistic?: boolean;
}

/**
 * Retries a `writeContacts` transaction that collided with a concurrent write of the same addresses. The retry is no
 * longer optimistic, so it succeeds.
 */
export const retryOnCollision = <Result>(transact: () => Promise<Result>, onCollision?: () => void): Promise<Result> =>
  retryOn([UNIQUE_VIOLATION, DEADLOCK], transact, { onFailure: onCollision });

/** A row with its index in the request. */
interface Placed extends CheckedContact {
  index: number;
}

/**
 * Writes any number of contacts and their events in a few statements, and returns the result of each row. If rows share
 * an address, the first one creates the contact. With `update`, names that are provided are written, and custom fields
 * are merged by key.
 */
export async function writeContacts(
  tx: Tx,
  projectId: string,
  rows: readonly CheckedContact[],
  options: WriteOptions,
): Promise<WrittenContact[]> {
  await shareSuppressions(tx, projectId);
  const written: WrittenContact[] = [];
  await writeRows(
    tx,
    projectId,
    rows.map((row, index) => ({ ...row, index })),
    written,
    options,
  );
  return written;
}

/**
 * What `writeContacts` would do, as a dry run. Every row must have a different address; contacts that would be created
 * have no id yet.
 */
export async function previewContacts(
  tx: Tx,
  projectId: string,
  rows: readonly CheckedContact[],
  { onConflict }: Pick<WriteOptions, 'onConflict'>,
): Promise<WrittenContact[]> {
  const found = await sql<{ id: string | null; suppressed: boolean; changed: boolean; renamed: boolean }>(
    tx,
    `SELECT c.id, c.id IS NULL AND EXISTS (
              SELECT FROM suppressions s WHERE s.project_id = $1 AND s.email_key IN (n.key, erased_key($1, n.key))) AS suppressed,
            $5 AND (coalesce(n.name, c.name), c.custom_fields || n.custom_fields) IS DISTINCT FROM (c.name, c.custom_fields) AS changed,
            $5 AND n.name <> c.name AS renamed
       FROM unnest($2::text[], $3::text[], $4::jsonb[]) WITH ORDINALITY AS n(key, name, custom_fields, place)
       LEFT JOIN contacts c ON c.project_id = $1 AND c.email_key = n.key
      ORDER BY n.place`,
    [
      projectId,
      rows.map(({ key }) => key),
      rows.map(({ name }) => name ?? null),
      rows.map(({ customFields }) => JSON.stringify(customFields)),
      onConflict === 'update',
    ],
  );
  return found.map(({ id, suppressed, changed, renamed }) => {
    if (suppressed) return { status: 'suppressed' };
    return id === null ? { status: 'created', id: '' } : { status: 'existing', id, changed, renamed };
  });
}

async function writeRows(
  tx: Tx,
  projectId: string,
  rows: readonly Placed[],
  written: WrittenContact[],
  options: WriteOptions,
): Promise<void> {
  const created = await createFirsts(tx, projectId, rows, options);
  for (const [index, id] of created) written[index] = { status: 'created', id };
  const others = created.size === rows.length ? [] : rows.filter(({ index }) => !created.has(index));
  if (others.length === 0) return;

  const idByKey = await existingIds(tx, projectId, others);
  const existing = others.filter(({ key }) => idByKey.has(key));
  const changed = options.onConflict === 'update' ? await updateContacts(tx, projectId, existing) : NOTHING;
  for (const { index, key } of existing) {
    const id = idByKey.get(key) as string;
    written[index] = { status: 'existing', id, changed: changed.has(id), renamed: changed.get(id) ?? false };
  }

  const refused = others.filter(({ key }) => !idByKey.has(key));
  const keys = refused.map(({ key }) => key);
  const suppressed = await findSuppressedKeys(tx, projectId, keys);
  for (const { index } of refused) written[index] = { status: 'suppressed' };
  // The conflicting contacts were deleted between the two statements, so these can be created now.
  const free = refused.filter(({ key }) => !suppressed.has(key));
  if (free.length > 0) await writeRows(tx, projectId, free, written, options);
}

const NOTHING: ReadonlyMap<string, boolean> = new Map();

/**
 * The statement that creates contacts. @param ending the order of the rows, and what happens on a conflict.
 *
 * An event's id has the digits of its contact's id, since both are created together. It returns the rows that were not
 * created, because these are the fewest. Suppressions are looked up only if the project has any, and by hash only if an
 * address was erased: hashing each address costs as much as indexing it. Texts without line breaks are passed as lines,
 * which parse faster than an array.
 */
const createStatement = (ending: string) => `
  WITH n AS MATERIALIZED (
    SELECT * FROM unnest(string_to_array($3, E'\\n'), string_to_array($4, E'\\n'), string_to_array($5, E'\\n'), $6::text[],
      string_to_array($7, E'\\n')::jsonb[]) AS n(id, email, email_key, name, custom_fields)
  ), created AS (
    INSERT INTO contacts AS c (id, project_id, email, email_key, name, source, custom_fields, created_at, updated_at)
    SELECT n.id, $1, n.email, n.email_key, n.name, $2::contact_source, n.custom_fields, $8, $8 FROM n
     WHERE NOT ((SELECT EXISTS (SELECT FROM suppressions WHERE project_id = $1))
         AND EXISTS (SELECT FROM suppressions s WHERE s.project_id = $1 AND s.email_key = n.email_key))
       AND NOT ((SELECT EXISTS (SELECT FROM suppressions WHERE project_id = $1 AND email = 'erased'))
         AND EXISTS (SELECT FROM suppressions s WHERE s.project_id = $1 AND s.email_key = erased_key($1, n.email_key)))
     ${ending}
    RETURNING c.id, c.email, c.name
  ), recorded AS (
    ${recordSelected(`SELECT 'evt_' || substr(c.id, 5), $1, 'contact.created', ${FACTS_SQL} FROM created c`)}
  )
  SELECT n.id FROM n WHERE NOT EXISTS (SELECT FROM created c WHERE c.id = n.id)`;

/** Inserts in address order, so that concurrent statements that share addresses can't deadlock. */
const CREATE = createStatement('ORDER BY n.email_key ON CONFLICT (project_id, email_key) DO NOTHING');
/**
 * Inserts in row order, so that ids are appended to their indexes, and without speculative insertion. It aborts the
 * transaction if an address already exists.
 */
const CREATE_OPTIMISTICALLY = createStatement('');

/** Creates the contacts of new addresses, each from the first row with that address; returns their ids by row. */
async function createFirsts(
  tx: Tx,
  projectId: string,
  rows: readonly Placed[],
  { source, optimistic = false }: WriteOptions,
): Promise<Map<number, string>> {
  const seen = new Set<string>();
  const firsts = optimistic ? rows : rows.filter(({ key }) => !seen.has(key) && seen.add(key));
  const ids = firsts.map(() => newId('ctc'));
  const left = await sql<{ id: string }>(tx, optimistic ? CREATE_OPTIMISTICALLY : CREATE, [
    projectId,
    source,
    ids.join('\n'),
    firsts.map(({ email }) => email).join('\n'),
    firsts.map(({ key }) => key).join('\n'),
    firsts.map(({ name }) => name ?? ''),
    firsts.map(({ customFields }) => JSON.stringify(customFields)).join('\n'),
    databaseTime(), // the time in the ids: filters by time rely on it
  ]);
  const absent = new Set(left.map(({ id }) => id));
  const all = firsts.map(({ index }, place) => [index, ids[place] as string] as const);
  return new Map(all.filter(([, id]) => !absent.has(id)));
}

async function existingIds(tx: Tx, projectId: string, rows: readonly Placed[]): Promise<Map<string, string>> {
  const found = await sql<{ id: string; key: string }>(
    tx,
    'SELECT id, email_key AS key FROM contacts WHERE project_id = $1 AND email_key = ANY ($2)',
    [projectId, rows.map(({ key }) => key)],
  );
  return new Map(found.map(({ key, id }) => [key, id]));
}

/** Merges rows by address; values of later rows win. */
function mergeByAddress(rows: readonly Placed[]): Placed[] {
  const byKey = new Map<string, Placed>();
  for (const row of rows) {
    const before = byKey.get(row.key);
    const customFields = { ...before?.customFields, ...row.customFields };
    for (const key of row.cleared) delete customFields[key];
    const cleared = [...(before?.cleared ?? []), ...row.cleared].filter((key) => !Object.hasOwn(customFields, key));
    byKey.set(row.key, { ...row, name: row.name ?? before?.name, customFields, cleared });
  }
  return [...byKey.values()];
}

/**
 * Writes changed values of existing contacts; returns the ids of changed contacts, and whether their names changed.
 * Rows are locked in address order, so that concurrent batches can't deadlock. FOR NO KEY UPDATE does not wait for `lockContacts`, which
 * several of these transactions may hold.
 */
async function updateContacts(tx: Tx, projectId: string, rows: readonly Placed[]): Promise<Map<string, boolean>> {
  if (rows.length === 0) return new Map();
  const updates = mergeByAddress(rows);
  const changed = await sql<ContactFacts & { renamed: boolean; length: number }>(
    tx,
    `WITH n AS (
       SELECT * FROM unnest($2::text[], $3::text[], $4::jsonb[], $5::jsonb[]) AS n(key, name, custom_fields, cleared)
     ), before AS (
       SELECT c.id, c.name, n.name AS new_name,
              (c.custom_fields || n.custom_fields) - ARRAY(SELECT jsonb_array_elements_text(n.cleared)) AS new_fields, c.custom_fields
         FROM contacts c JOIN n ON n.key = c.email_key
        WHERE c.project_id = $1 ORDER BY c.email_key FOR NO KEY UPDATE OF c
     )
     UPDATE contacts c SET name = coalesce(b.new_name, b.name), custom_fields = b.new_fields, updated_at = ${NEXT_UPDATED_AT}
       FROM before b
      WHERE c.id = b.id AND (coalesce(b.new_name, b.name), b.new_fields) IS DISTINCT FROM (b.name, b.custom_fields)
     RETURNING ${FACTS_COLUMNS}, c.name <> b.name AS renamed, length(c.custom_fields::text) AS length`,
    [
      projectId,
      updates.map(({ key }) => key),
      updates.map(({ name }) => name ?? null),
      updates.map(({ customFields }) => JSON.stringify(customFields)),
      updates.map(({ cleared }) => JSON.stringify(cleared)),
    ],
  );
  // Each write adds less than that, but many add up.
  const tooLong = changed.find(({ length }) => length > 2 * MAX_VALUES_LENGTH);
  if (tooLong !== undefined)
    throw invalid({ field: 'customFields', message: `of ${tooLong.email} ${VALUES_TOO_LONG}` });
  await record(tx, projectId, changed.filter((contact) => contact.renamed).map(contactUpdated));
  return new Map(changed.map(({ id, renamed }) => [id, renamed]));
}
