import { assertValid, db, emptyUpdate, type FieldProblem, pool, sql, type Tx } from '@postroom/platform';

/** The sending rate of a project's campaigns, their auto-pause thresholds and the frequency cap. `null` means no limit. */
export interface SendingPolicy {
  /** Messages per second, shared by the campaigns that are sending. */
  ratePerSecond: number | null;
  /** Percentage of sent messages that bounced or were rejected; checked once `bounceMinSent` have been sent. */
  bounceLimitPercent: number | null;
  bounceMinSent: number;
  /** Percentage of sent messages marked as spam; checked once `complaintMinSent` have been sent. */
  complaintLimitPercent: number | null;
  complaintMinSent: number;
  /** Consecutive rejections, with no message accepted in between. */
  refusalsInRow: number | null;
  /** Messages that a contact gets at most from campaigns and journeys in `frequencyCapDays` days. */
  frequencyCapMessages: number | null;
  frequencyCapDays: number;
}

export const DEFAULT_POLICY: SendingPolicy = {
  ratePerSecond: null,
  bounceLimitPercent: 5,
  bounceMinSent: 100,
  complaintLimitPercent: 0.1,
  complaintMinSent: 1_000,
  refusalsInRow: 25,
  frequencyCapMessages: null,
  frequencyCapDays: 7,
};

type PolicyChange = { [Key in keyof SendingPolicy]?: SendingPolicy[Key] | null | undefined };

/** The policy of a project, or the defaults. */
export async function getPolicy(projectId: string, tx: Tx = pool): Promise<SendingPolicy> {
  const [policy] = await sql<SendingPolicy>(
    tx,
    `SELECT rate_per_second AS "ratePerSecond", bounce_limit_percent AS "bounceLimitPercent",
        bounce_min_sent AS "bounceMinSent", complaint_limit_percent AS "complaintLimitPercent",
        complaint_min_sent AS "complaintMinSent", refusals_in_row AS "refusalsInRow",
        frequency_cap_messages AS "frequencyCapMessages", frequency_cap_days AS "frequencyCapDays"
      FROM sending_policies WHERE project_id = $1`,
    [projectId],
  );
  return policy ?? DEFAULT_POLICY;
}

/** The most messages of campaigns and journeys that a contact gets in a number of days. */
export interface FrequencyCap {
  messages: number;
  days: number;
}

/** The frequency cap of a policy; undefined if it has none. */
export function frequencyCapOf({ frequencyCapMessages, frequencyCapDays }: SendingPolicy): FrequencyCap | undefined {
  return frequencyCapMessages === null ? undefined : { messages: frequencyCapMessages, days: frequencyCapDays };
}

/** The range of each number, and whether it may be null. */
export const BOUNDS: Record<keyof SendingPolicy, { min: number; max: number; nullable: boolean }> = {
  ratePerSecond: { min: 1, max: 100_000, nullable: true },
  bounceLimitPercent: { min: 0.1, max: 100, nullable: true },
  bounceMinSent: { min: 1, max: 1_000_000, nullable: false },
  complaintLimitPercent: { min: 0.01, max: 100, nullable: true },
  complaintMinSent: { min: 1, max: 1_000_000, nullable: false },
  refusalsInRow: { min: 1, max: 100_000, nullable: true },
  frequencyCapMessages: { min: 1, max: 1_000, nullable: true },
  frequencyCapDays: { min: 1, max: 90, nullable: false },
};

/** Updates the given fields; takes effect with the next page. @throws DomainError `validation_error` naming each bad field. */
export async function updatePolicy(projectId: string, change: PolicyChange): Promise<SendingPolicy> {
  const given = Object.entries(change).filter(([, value]) => value !== undefined) as [
    keyof SendingPolicy,
    number | null,
  ][];
  if (given.length === 0) throw emptyUpdate();
  const problems = given.flatMap(([field, value]): FieldProblem[] => {
    const { min, max, nullable } = BOUNDS[field];
    const isValid = value === null ? nullable : value >= min && value <= max;
    return isValid ? [] : [{ field, message: `must be between ${min} and ${max}${nullable ? ', or null' : ''}` }];
  });
  assertValid(problems);
  const data = Object.fromEntries(given);
  await db.$transaction((tx) =>
    tx.sendingPolicy.upsert({ where: { projectId }, create: { projectId, ...data }, update: data }),
  );
  return getPolicy(projectId);
}
