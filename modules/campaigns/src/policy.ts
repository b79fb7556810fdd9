import { assertValid, db, DomainError, type FieldProblem, pool } from '@postroom/platform';

/** How fast a project's campaigns go, and when they are paused automatically. `null` means no limit. */
export interface SendingPolicy {
  /** Messages per second, shared by the campaigns that are being sent. */
  ratePerSecond: number | null;
  /** Percent of what was sent that bounced or was refused; looked at when `bounceMinSent` have been sent. */
  bounceLimitPercent: number | null;
  bounceMinSent: number;
  /** Percent of what was sent that was marked as spam; looked at when `complaintMinSent` have been sent. */
  complaintLimitPercent: number | null;
  complaintMinSent: number;
  /** Refusals with nothing accepted in between. */
  refusalsInRow: number | null;
}

export const DEFAULT_POLICY: SendingPolicy = {
  ratePerSecond: null,
  bounceLimitPercent: 5,
  bounceMinSent: 100,
  complaintLimitPercent: 0.1,
  complaintMinSent: 1_000,
  refusalsInRow: 25,
};

type PolicyChange = { [Key in keyof SendingPolicy]?: SendingPolicy[Key] | null | undefined };

/** The policy of a project, or the defaults. */
export async function getPolicy(projectId: string): Promise<SendingPolicy> {
  const { rows } = await pool.query<SendingPolicy>({
    name: 'sending-policy',
    text: `SELECT rate_per_second AS "ratePerSecond", bounce_limit_percent AS "bounceLimitPercent",
        bounce_min_sent AS "bounceMinSent", complaint_limit_percent AS "complaintLimitPercent",
        complaint_min_sent AS "complaintMinSent", refusals_in_row AS "refusalsInRow"
      FROM sending_policies WHERE project_id = $1`,
    values: [projectId],
  });
  return rows[0] ?? DEFAULT_POLICY;
}

/** Bounds of each number, and whether it may be taken away. */
const BOUNDS: Record<keyof SendingPolicy, { least: number; most: number; optional: boolean }> = {
  ratePerSecond: { least: 1, most: 100_000, optional: true },
  bounceLimitPercent: { least: 0.1, most: 100, optional: true },
  bounceMinSent: { least: 1, most: 1_000_000, optional: false },
  complaintLimitPercent: { least: 0.01, most: 100, optional: true },
  complaintMinSent: { least: 1, most: 1_000_000, optional: false },
  refusalsInRow: { least: 1, most: 100_000, optional: true },
};

/** Changes what is given, from the next page of messages on. @throws DomainError `validation_error` naming each bad number. */
export async function updatePolicy(projectId: string, change: PolicyChange): Promise<SendingPolicy> {
  const given = Object.entries(change).filter(([, value]) => value !== undefined) as [
    keyof SendingPolicy,
    number | null,
  ][];
  if (given.length === 0) throw new DomainError('validation_error', 'An update needs at least one field.');
  const problems = given.flatMap(([field, value]): FieldProblem[] => {
    const { least, most, optional } = BOUNDS[field];
    const isFine = value === null ? optional : value >= least && value <= most;
    return isFine ? [] : [{ field, message: `must be between ${least} and ${most}${optional ? ', or null' : ''}` }];
  });
  assertValid(problems);
  const data = Object.fromEntries(given);
  await db.sendingPolicy.upsert({ where: { projectId }, create: { projectId, ...data }, update: data });
  return getPolicy(projectId);
}
