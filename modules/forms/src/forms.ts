import {
  nameContains,
  checkLimit,
  checkVersion,
  coalesceReads,
  conflictIfTaken,
  countUpTo,
  databaseNow,
  db,
  deleteInBatches,
  emptyUpdate,
  emailKey,
  inTransaction,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  readLimited,
  readPage,
  readRows,
  type RowsQuery,
  runCostly,
  versionConflict,
} from '@postroom/platform';
import { checkForm, CUSTOM_PREFIX, type FormField, type FormInput } from './check-form.ts';
import { isBlocked } from './confirm.ts';
import { cancelReminders } from './confirmation-mail.ts';
import { type Form, FORM_ID, type FormSubmission, SUBMISSION_ID } from './ids.ts';

/** The most forms of a project. */
const MAX_FORMS = 200;

/** @throws DomainError `not_found`. */
export async function getForm(projectId: string, id: string, query: RowsQuery = {}): Promise<Form> {
  const form = isId(FORM_ID, id) ? await db.form.findFirst({ ...query, where: { id, projectId } }) : null;
  if (form === null) throw notFound('form');
  return form;
}

/** The project's forms, newest first; only those whose name contains `search`, ignoring case. */
export const listForms = (
  projectId: string,
  { search, ...page }: PageArgs & { search?: string | null | undefined },
  query: RowsQuery,
): Promise<Page<Form>> => readRows(db.form, FORM_ID, page, { projectId, ...nameContains(search) }, query);

/** The project's forms with these ids. */
export const findForms = (projectId: string, ids: string[]): Promise<Form[]> =>
  db.form.findMany({ where: { projectId, id: { in: ids } } });

/**
 * Creates a form.
 * @throws DomainError `validation_error` naming each invalid field, `conflict` when the name is taken or the project has too many.
 */
export async function createForm(
  projectId: string,
  authorId: string,
  input: FormInput & { name: string },
): Promise<string> {
  const data = await checkForm(projectId, input);
  const id = newId(FORM_ID);
  const name = data.name ?? '';
  await db.$transaction(async (tx) => {
    await tx.form
      .create({ data: { title: name, ...data, name, id, projectId, editedById: authorId } })
      .catch(nameTaken(name));
    await checkLimit(tx, { of: projectId, rows: 'forms', max: MAX_FORMS }, () =>
      tx.form.count({ where: { projectId } }),
    );
  });
  return id;
}

/**
 * Changes the given fields; null clears those that may be empty. What was submitted before is confirmed as it was.
 * @throws DomainError `not_found`, `validation_error`, `conflict` when the name is taken or `version` is no longer current.
 */
export async function updateForm(
  projectId: string,
  authorId: string,
  id: string,
  { version, ...input }: FormInput & { version?: number | null | undefined },
): Promise<void> {
  const form = await getForm(projectId, id);
  if (Object.values(input).every((value) => value === undefined)) throw emptyUpdate();
  const data = await checkForm(projectId, input, form);
  checkVersion('form', version, form.version);
  const { count } = await db
    .$transaction((tx) =>
      tx.form.updateMany({
        // Checked against the row as it was read.
        where: { id, projectId, version: form.version },
        data: { ...data, version: { increment: 1 }, editedById: authorId },
      }),
    )
    .catch(nameTaken(data.name ?? ''));
  if (count === 0) throw versionConflict('form');
}

/** Submissions that are deleted in a statement. */
const BATCH = 5_000;

/** The others are those of a few days. */
const DELETE_CONFIRMED = `
  DELETE FROM form_submissions WHERE id = ANY (ARRAY(
    SELECT id FROM form_submissions WHERE form_id = $1 AND confirmed_at IS NOT NULL ORDER BY id LIMIT ${BATCH}))`;

/**
 * Deletes a form with its submissions, including the records of consent. Subscribed contacts stay. Interrupted, it leaves the form with fewer
 * submissions. @throws DomainError `not_found`.
 */
export async function deleteForm(projectId: string, id: string): Promise<void> {
  await getForm(projectId, id);
  await deleteInBatches(DELETE_CONFIRMED, [id], { batch: BATCH });
  await inTransaction(async (tx) => {
    await cancelReminders(tx, 'form_id = $1', id);
    await tx.query('DELETE FROM forms WHERE id = $1 AND project_id = $2', [id, projectId]);
  });
}

/** A field that a form shows, with what it accepts. */
export interface ShownField extends FormField {
  label: string;
  type: 'text' | 'number' | 'boolean' | 'date' | 'select';
  options: readonly string[];
}

/** The custom fields of projects; the forms of a list share the statement. */
const customFields = coalesceReads<(Pick<ShownField, 'key' | 'label' | 'type' | 'options'> & { projectId: string })[]>(
  async (projectIds) =>
    Map.groupBy(
      await db.customField.findMany({ where: { projectId: { in: [...projectIds] } } }),
      ({ projectId }) => projectId,
    ),
);

/** The fields of a form in its order, without custom fields that no longer exist. */
export async function shownFields({ projectId, fields }: Pick<Form, 'projectId' | 'fields'>): Promise<ShownField[]> {
  const asked = fields as unknown as FormField[];
  if (asked.length === 0) return [];
  const known = new Map(((await customFields(projectId)) ?? []).map((field) => [CUSTOM_PREFIX + field.key, field]));
  return asked.flatMap((field): ShownField[] => {
    if (field.key === 'name') return [{ ...field, label: field.label ?? 'Name', type: 'text', options: [] }];
    const found = known.get(field.key);
    if (found === undefined) return [];
    return [{ ...field, label: field.label ?? found.label, type: found.type, options: found.options }];
  });
}

/**
 * The state of a submission. `blocked`: it would be pending if its address could be mailed. Nothing sends its email, and its link is
 * refused.
 */
export type SubmissionStatus = 'pending' | 'blocked' | 'confirmed' | 'expired';

/** Whether a submission `s` waits for its confirmation, as SQL. */
const IS_OPEN = 's.confirmed_at IS NULL AND s.expires_at > now()';

/** The states as conditions on a submission `s`, as SQL. */
const inStatus = (projectId: string): Record<SubmissionStatus, string> => {
  const blocked = isBlocked(projectId, 's.email_key');
  return {
    pending: `${IS_OPEN} AND NOT ${blocked}`,
    blocked: `${IS_OPEN} AND ${blocked}`,
    confirmed: 's.confirmed_at IS NOT NULL',
    expired: 's.confirmed_at IS NULL AND s.expires_at <= now()',
  };
};

/** How many submissions of a form there are. */
export type SubmissionCounts = Record<Exclude<SubmissionStatus, 'expired'>, number>;

/** Counts the submissions of each of the project's forms. */
export async function countSubmissions(
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, SubmissionCounts>> {
  const { blocked, confirmed } = inStatus('$2');
  const { rows } = await runCostly(projectId, () =>
    pool.query<SubmissionCounts & { formId: string }>(
      `SELECT form_id AS "formId", count(*) FILTER (WHERE ${confirmed})::int AS confirmed,
         (count(*) FILTER (WHERE ${IS_OPEN}) - count(*) FILTER (WHERE ${blocked}))::int AS pending, -- suppressions are looked up once
         count(*) FILTER (WHERE ${blocked})::int AS blocked
       FROM form_submissions s WHERE form_id = ANY ($1) GROUP BY form_id`,
      [ids, projectId],
    ),
  );
  const known = new Map(rows.map(({ formId, ...counts }) => [formId, counts]));
  return new Map(ids.map((id) => [id, known.get(id) ?? { pending: 0, blocked: 0, confirmed: 0 }]));
}

export function statusOf(
  { confirmedAt, expiresAt }: Pick<FormSubmission, 'confirmedAt' | 'expiresAt'>,
  blocked: boolean,
): SubmissionStatus {
  if (confirmedAt !== null) return 'confirmed';
  if (expiresAt.getTime() <= databaseNow()) return 'expired';
  return blocked ? 'blocked' : 'pending';
}

/** The submissions of a form that match every filter, newest first. @throws DomainError `not_found`. */
export async function listSubmissions(
  projectId: string,
  {
    formId,
    status,
    email,
    ...page
  }: PageArgs & { formId: string; status?: SubmissionStatus | null | undefined; email?: string | null | undefined },
  query: RowsQuery,
): Promise<Page<FormSubmission>> {
  await getForm(projectId, formId, { select: { id: true } });
  const values = [projectId, formId, ...(email == null ? [] : [emailKey(email.trim())])];
  const from = `SELECT s.id FROM form_submissions s WHERE s.project_id = $1 AND s.form_id = $2
    ${email == null ? '' : 'AND s.email_key = $3'} ${status == null ? '' : `AND ${inStatus('$1')[status]}`}`;
  // Only the index of all submissions of the form has their order, so few of many are found by reading the others.
  const run = <Result>(read: () => Promise<Result>) => (status == null ? read() : runCostly(projectId, read));
  return readPage(
    SUBMISSION_ID,
    page,
    ({ limit, before }) =>
      readLimited(async () => {
        const onPage = before === undefined ? '' : `AND s.id < $${values.length + 2}`;
        const text = `${from} ${onPage} ORDER BY s.id DESC LIMIT $${values.length + 1}`;
        const given = [...values, limit, ...(before === undefined ? [] : [before])];
        const ids = (await run(() => pool.query<{ id: string }>(text, given))).rows.map(({ id }) => id);
        return db.formSubmission.findMany({ ...query, where: { id: { in: ids } }, orderBy: { id: 'desc' } });
      }),
    (limit) => run(() => countUpTo(limit, from, values)),
  );
}

/** The project's submissions with these ids. */
export const findSubmissions = (projectId: string, ids: string[]): Promise<FormSubmission[]> =>
  db.formSubmission.findMany({ where: { projectId, id: { in: ids } } });

const nameTaken = (name: string) => conflictIfTaken('name', `A form named "${name}" already exists.`);
