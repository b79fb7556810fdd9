import {
  emailKey,
  emailProblem,
  type FieldProblem,
  inTransaction,
  invalid,
  normalizeEmail,
  pool,
  sql,
  type Tx,
} from '@postroom/platform';
import { SUPPRESSION_REASONS } from './sql.ts';
import { suppress, type SuppressionReason, type SuppressionActor } from './suppressions.ts';

/** Maximum number of entries in a batch. */
const MAX_SUPPRESSION_BATCH = 1000;

export interface SuppressionEntry {
  email: string;
  /** `manual` if it is not given. */
  reason?: string | null | undefined;
}

/** What a batch did, or would do. */
export interface SuppressionBatchResult {
  created: number;
  /** Entries that were suppressed already for the same reason, or that repeat an earlier entry. */
  existing: number;
  invalid: number;
  /** The invalid entries by cause, the most frequent first. */
  causes: { message: string; entries: number; firstIndex: number }[];
}

/**
 * Adds up to 1,000 suppressions, such as those of a list from another provider. An invalid entry is counted by its cause and
 * blocks no other. A dry run writes nothing.
 * @throws DomainError `validation_error` for an empty or too large batch.
 */
export async function addSuppressions(
  projectId: string,
  entries: readonly SuppressionEntry[],
  by: SuppressionActor,
  { dryRun = false }: { dryRun?: boolean | undefined },
): Promise<SuppressionBatchResult> {
  if (entries.length === 0 || entries.length > MAX_SUPPRESSION_BATCH)
    throw invalid({ field: 'entries', message: `must be 1 to ${MAX_SUPPRESSION_BATCH} suppressions` });
  const causes = new Map<string, { message: string; entries: number; firstIndex: number }>();
  const valid = new Map<string, CheckedSuppression>();
  let good = 0;
  for (const [index, entry] of entries.entries()) {
    const { suppression, problem } = checkSuppression(entry);
    if (problem !== undefined) {
      const message = `${problem.field} ${problem.message}`;
      const cause = causes.get(message) ?? { message, entries: 0, firstIndex: index };
      causes.set(message, { ...cause, entries: cause.entries + 1 });
    } else {
      good++;
      const key = suppressionKey(suppression);
      if (!valid.has(key)) valid.set(key, suppression);
    }
  }
  const checked = [...valid.values()];
  const created = await (dryRun
    ? countNewSuppressions(pool, projectId, checked)
    : inTransaction((tx) => writeSuppressions(tx, projectId, checked, by)));
  return {
    created,
    existing: good - created,
    invalid: entries.length - good,
    causes: [...causes.values()].sort((one, other) => other.entries - one.entries),
  };
}

/** A valid entry of a suppression list. */
export interface CheckedSuppression {
  email: string;
  reason: SuppressionReason;
}

/** The entry, or what is wrong with it. An entry without a reason gets `defaultReason`. */
export function checkSuppression(
  { email: given, reason }: SuppressionEntry,
  defaultReason: SuppressionReason = 'manual',
): { suppression: CheckedSuppression; problem?: undefined } | { suppression?: undefined; problem: FieldProblem } {
  const email = given.trim();
  if (email === '') return { problem: { field: 'email', message: 'is required' } };
  const problem = emailProblem(email);
  if (problem !== undefined) return { problem: { field: 'email', message: problem } };
  const wanted = reason?.trim().toLowerCase() ?? '';
  const known = wanted === '' ? defaultReason : SUPPRESSION_REASONS.find((each) => each === wanted);
  return known === undefined
    ? { problem: { field: 'reason', message: `must be one of: ${SUPPRESSION_REASONS.join(', ')}` } }
    : { suppression: { email: normalizeEmail(email), reason: known } };
}

/** What is unique in a suppression list: an address may be suppressed for several reasons. */
export const suppressionKey = ({ email, reason }: CheckedSuppression) => `${reason} ${emailKey(email)}`;

/** Adds distinct suppressions in the caller's transaction; returns how many are new. */
export async function writeSuppressions(
  tx: Tx,
  projectId: string,
  entries: readonly CheckedSuppression[],
  by: SuppressionActor,
): Promise<number> {
  if (entries.length === 0) return 0;
  return (await suppress(tx, projectId, entries, by)).length;
}

/** How many of the entries would be new. */
export async function countNewSuppressions(
  tx: Tx,
  projectId: string,
  entries: readonly CheckedSuppression[],
): Promise<number> {
  if (entries.length === 0) return 0;
  const [row] = await sql<{ count: number }>(
    tx,
    `SELECT count(*)::int AS count FROM unnest($2::text[], $3::text[]) AS e(key, reason)
     WHERE NOT EXISTS (SELECT FROM suppressions s WHERE s.project_id = $1
       AND (s.email_key = e.key AND s.reason = e.reason::suppression_reason OR s.email_key = erased_key($1, e.key)))`,
    [projectId, entries.map(({ email }) => emailKey(email)), entries.map(({ reason }) => reason)],
  );
  return row?.count ?? 0;
}
