import { emailKey, emailProblem, inTransaction, invalid, normalizeEmail, pool, sql } from '@postroom/platform';
import {
  lockSuppressions,
  suppress,
  SUPPRESSION_REASONS,
  type SuppressionReason,
  type SuppressedBy,
} from './suppressions.ts';

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
  by: SuppressedBy,
  { dryRun = false }: { dryRun?: boolean | undefined } = {},
): Promise<SuppressionBatchResult> {
  if (entries.length === 0 || entries.length > MAX_SUPPRESSION_BATCH)
    throw invalid({ field: 'entries', message: `must be 1 to ${MAX_SUPPRESSION_BATCH} suppressions` });
  const causes = new Map<string, { message: string; entries: number; firstIndex: number }>();
  const valid = new Map<string, { email: string; reason: SuppressionReason }>();
  let good = 0;
  for (const [index, entry] of entries.entries()) {
    const checked = check(entry);
    if (typeof checked === 'string') {
      const cause = causes.get(checked) ?? { message: checked, entries: 0, firstIndex: index };
      causes.set(checked, { ...cause, entries: cause.entries + 1 });
    } else {
      good++;
      const key = `${checked.reason} ${emailKey(checked.email)}`;
      if (!valid.has(key)) valid.set(key, checked);
    }
  }
  const created = valid.size === 0 ? 0 : await (dryRun ? countNew : write)(projectId, [...valid.values()], by);
  return {
    created,
    existing: good - created,
    invalid: entries.length - good,
    causes: [...causes.values()].sort((one, other) => other.entries - one.entries),
  };
}

type Checked = { email: string; reason: SuppressionReason };

/** The entry, or what is wrong with it. */
function check({ email: given, reason }: SuppressionEntry): Checked | string {
  const email = given.trim();
  if (email === '') return 'email is required';
  const problem = emailProblem(email);
  if (problem !== undefined) return `email ${problem}`;
  const wanted = reason?.trim().toLowerCase() ?? '';
  const known = wanted === '' ? 'manual' : SUPPRESSION_REASONS.find((each) => each === wanted);
  return known === undefined
    ? `reason must be one of: ${SUPPRESSION_REASONS.join(', ')}`
    : { email: normalizeEmail(email), reason: known };
}

const write = (projectId: string, entries: Checked[], by: SuppressedBy): Promise<number> =>
  inTransaction(async (tx) => {
    await lockSuppressions(tx, projectId);
    return (await suppress(tx, projectId, entries, by)).length;
  });

/** How many of the entries would be new. */
async function countNew(projectId: string, entries: Checked[]): Promise<number> {
  const [row] = await sql<{ count: number }>(
    pool,
    `SELECT count(*)::int AS count FROM unnest($2::text[], $3::text[]) AS e(key, reason)
     WHERE NOT EXISTS (SELECT FROM suppressions s WHERE s.project_id = $1
       AND (s.email_key = e.key AND s.reason = e.reason::suppression_reason OR s.email_key = erased_key($1, e.key)))`,
    [projectId, entries.map(({ email }) => emailKey(email)), entries.map(({ reason }) => reason)],
  );
  return row?.count ?? 0;
}
