import {
  assignToTest,
  type Campaign,
  cancelVariants,
  checkReady,
  copyVariant,
  deleteVariants,
  findCampaigns,
  getCampaign,
  type ReadyVariant,
  releaseFromTest,
  renameVariants,
  sendToRest,
  startVariant,
} from '@postroom/campaigns';
import {
  announce,
  assertValid,
  checkVersion,
  databaseNow,
  databaseTime,
  db,
  defineIdPrefix,
  DomainError,
  emptyUpdate,
  type FieldProblem,
  invalid,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  type Prisma,
  readRows,
  record,
  type RowsQuery,
  startWorkflow,
  versionConflict,
  type WorkflowStart,
} from '@postroom/platform';
import { heldReason } from '@postroom/ledger';
import { readTracking } from '@postroom/tracking';
import { abTestCanceled, abTestCompleted } from './events.ts';
import { candidatesOf, type Decision, decisionOf, labelOf, leaderOf, shareOf } from './variants.ts';

export type AbTest = Prisma.AbTestModel;
export const AB_TEST_ID = defineIdPrefix('abt', 'A/B test');

export const MIN_VARIANTS = 2;
export const MAX_VARIANTS = 5;
/** The longest test, in hours: a week. */
export const MAX_HOURS = 168;
const DEFAULTS = { variants: MIN_VARIANTS, samplePercent: 20, metric: 'opens', durationHours: 24 } as const;

/** What can be changed until the start. */
export interface Settings {
  /** How many variants there are. */
  variants?: number | null | undefined;
  samplePercent?: number | null | undefined;
  metric?: AbTest['metric'] | null | undefined;
  durationHours?: number | null | undefined;
}

/** @throws DomainError `not_found`. */
export async function getAbTest(projectId: string, id: string, query: RowsQuery = {}): Promise<AbTest> {
  const found = isId(AB_TEST_ID, id) ? await db.abTest.findFirst({ ...query, where: { id, projectId } }) : null;
  if (found === null) throw notFound('A/B test');
  return found;
}

/** The project's A/B tests, newest first. */
export const listAbTests = (projectId: string, page: PageArgs, query: RowsQuery): Promise<Page<AbTest>> =>
  readRows(db.abTest, AB_TEST_ID, page, { projectId }, query);

/** The project's A/B tests with these ids. */
export const findAbTests = (projectId: string, ids: string[]): Promise<AbTest[]> =>
  db.abTest.findMany({ where: { projectId, id: { in: ids } } });

/** The topic of notifications about a test. Its campaigns have their own. */
export const topicOf = (id: string): string => `ab-test ${id}`;

/** The variants of a test, in order. */
async function variantsOf({ projectId, variantIds }: AbTest): Promise<Campaign[]> {
  const found = new Map((await findCampaigns(projectId, variantIds)).map((campaign) => [campaign.id, campaign]));
  return variantIds.flatMap((id) => found.get(id) ?? []);
}

/**
 * Makes an A/B test from a draft campaign, which becomes its first variant; the others are copies of it. A test whose sample is
 * everyone has no campaign for the rest.
 * @throws DomainError `not_found` for the campaign, `validation_error` naming each bad field, `conflict` if it is not a draft or
 * belongs to a test already.
 */
export async function createAbTest(
  projectId: string,
  authorId: string,
  { campaignId, ...input }: Settings & { campaignId: string },
): Promise<string> {
  assertValid(settingProblems(input));
  const { variants, ...settings } = { ...DEFAULTS, ...given(input) };
  const id = newId(AB_TEST_ID);
  const campaign = await getCampaign(projectId, campaignId);
  await db.$transaction(async (tx) => {
    // The foreign key of a variant needs the test, whose variants are known only then.
    await tx.abTest.create({ data: { ...settings, id, projectId, variantIds: Array(variants).fill(campaignId) } });
    await assignToTest(tx, campaign.id, id);
    const copies = await copyVariant(tx, authorId, campaignId, suffixes(1, variants));
    await tx.abTest.update({ where: { id }, data: { variantIds: [campaignId, ...copies] } });
  });
  return id;
}

const suffixes = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => ` (${labelOf(from + index)})`);

/** The settings that are neither omitted nor null. */
const given = (input: Settings) =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value != null)) as {
    [Key in keyof Settings]: NonNullable<Settings[Key]>;
  };

const RANGES = {
  variants: [MIN_VARIANTS, MAX_VARIANTS],
  samplePercent: [1, 100],
  durationHours: [1, MAX_HOURS],
} as const;

function settingProblems(input: Settings): FieldProblem[] {
  return Object.entries(RANGES).flatMap(([field, [min, max]]) => {
    const value = input[field as keyof typeof RANGES];
    return value == null || (value >= min && value <= max)
      ? []
      : [{ field, message: `must be between ${min} and ${max}` }];
  });
}

const NOT_A_DRAFT = 'Only an A/B test that has not been started can be changed.';

/**
 * Changes settings of a draft. Further variants are copies of the first one; if there should be fewer, the last ones are deleted. Variants
 * that no longer exist are replaced by copies. `variantIds` are the variants to keep; the others are deleted.
 * @throws DomainError `not_found`, `validation_error`, `conflict` once it was started or when `version` is no longer current.
 */
export async function updateAbTest(
  projectId: string,
  authorId: string,
  id: string,
  {
    version,
    variantIds,
    ...input
  }: Settings & {
    variantIds?: string[] | null | undefined;
    version?: number | null | undefined;
  },
): Promise<void> {
  const test = await getAbTest(projectId, id);
  const { variants, ...settings } = given(input);
  assertValid([...settingProblems(input), ...keptProblems(test, variantIds, variants)]);
  if (variants === undefined && variantIds == null && Object.keys(settings).length === 0) throw emptyUpdate();
  if (test.status !== 'draft') throw new DomainError('conflict', NOT_A_DRAFT);
  checkVersion('A/B test', version, test.version);
  const count = variants ?? (variantIds ?? test.variantIds).length;
  const existing = await variantsOf(test);
  const isKept = ({ id: variant }: Campaign) => variantIds?.includes(variant) ?? true;
  const kept = existing.filter(isKept).slice(0, count);
  const ids = kept.map((variant) => variant.id);
  const [first] = ids;
  if (first === undefined) throw new DomainError('conflict', 'No variant of this A/B test exists. Delete the test.');
  await db.$transaction(async (tx) => {
    await changeDraft(tx, test, { ...settings, version: { increment: 1 } });
    const others = existing.filter((variant) => !kept.includes(variant));
    await deleteVariants(
      tx,
      id,
      others.map((variant) => variant.id),
    );
    await renameVariants(tx, renamed(test, kept));
    const copies = await copyVariant(tx, authorId, first, suffixes(ids.length, count));
    await tx.abTest.update({ where: { id }, data: { variantIds: [...ids, ...copies] } });
  });
}

function keptProblems(test: AbTest, variantIds: string[] | null | undefined, variants: number | undefined) {
  if (variantIds == null) return [];
  const field = 'variantIds';
  if (variantIds.some((id) => !test.variantIds.includes(id)) || new Set(variantIds).size < variantIds.length)
    return [{ field, message: 'must be variants of this A/B test, each once' }];
  const least = variants === undefined ? MIN_VARIANTS : 1;
  return variantIds.length < least ? [{ field, message: `must have at least ${least} of its variants` }] : [];
}

/** The names of variants whose label changes because an earlier one is deleted, if they end with the label as copies do. */
function renamed({ variantIds }: AbTest, kept: readonly Campaign[]): { id: string; name: string }[] {
  return kept.flatMap(({ id, name }, index) => {
    const before = ` (${labelOf(variantIds.indexOf(id))})`;
    const after = index === 0 ? '' : ` (${labelOf(index)})`;
    return before === after || !name.endsWith(before) ? [] : [{ id, name: name.slice(0, -before.length) + after }];
  });
}

/** Changes a draft unless it was changed or started since it was read. */
async function changeDraft(
  tx: Prisma.TransactionClient,
  test: AbTest,
  data: Prisma.AbTestUpdateManyMutationInput,
): Promise<void> {
  const { id, version } = test;
  const { count } = await tx.abTest.updateMany({ where: { id, version, status: 'draft' }, data });
  if (count === 0) throw versionConflict('A/B test');
  await announce(tx, topicOf(id));
}

/** Deletes a draft with its variants, except the first, which becomes an ordinary draft again. @throws DomainError `not_found`, `conflict`. */
export async function deleteAbTest(projectId: string, id: string): Promise<void> {
  const test = await getAbTest(projectId, id);
  if (test.status !== 'draft') throw new DomainError('conflict', 'Only a draft can be deleted.');
  const [first, ...others] = (await variantsOf(test)).map((variant) => variant.id);
  await db.$transaction(async (tx) => {
    await changeDraft(tx, test, { version: { increment: 1 } });
    await deleteVariants(tx, id, others);
    if (first !== undefined) await releaseFromTest(tx, first);
    await tx.abTest.delete({ where: { id } });
  });
}

/**
 * Starts a test: all variants are sent at once, each to its share of the audience. A workflow chooses the winner at the end.
 * @throws DomainError `not_found`, `conflict` unless it is a draft, or if its settings were changed since `version` or a variant since its
 * version, and as `sendCampaign` with the name of the variant.
 */
export async function startAbTest(
  projectId: string,
  id: string,
  { version, variantVersions }: { version?: number | null | undefined; variantVersions?: number[] | null | undefined },
): Promise<void> {
  for (;;) {
    const test = await getAbTest(projectId, id);
    const count = test.variantIds.length;
    if (variantVersions != null && variantVersions.length !== count)
      throw invalid({ field: 'variantVersions', message: `must have ${count} numbers, one for each variant` });
    if (test.status !== 'draft') throw new DomainError('conflict', 'This A/B test has already been started.');
    checkVersion('A/B test', version, test.version);
    const variants = await variantsOf(test);
    if (variants.length < count) throw new DomainError('conflict', VARIANT_IS_MISSING);
    const changed = variants.findIndex(
      (variant, index) => variant.version !== (variantVersions?.[index] ?? variant.version),
    );
    if (changed >= 0)
      throw new DomainError('conflict', `Variant ${labelOf(changed)} was modified since you loaded it.`, [
        { field: `variantVersions.${changed}`, message: 'is not the current version' },
      ]);
    const ready: ReadyVariant[] = [];
    for (const [index, campaign] of variants.entries()) ready.push(await checkVariant(campaign, index, test.metric));
    if (await start(test, ready)) return;
    // A variant or the test was changed since it was checked, so check it again.
  }
}

const VARIANT_IS_MISSING =
  'A variant of this A/B test no longer exists. Change a setting to replace it by a copy of another one, or delete the test.';

/** @throws DomainError as `sendCampaign` for a variant that can't be sent, or whose result would not be measured, with its name. */
async function checkVariant(campaign: Campaign, index: number, metric: AbTest['metric']): Promise<ReadyVariant> {
  const problemOf = ({ field, message }: FieldProblem) => ({ field: `variants.${index}.${field}`, message });
  try {
    const body = await checkReady(campaign);
    const { projectId, fromEmail, trackOpens: opens, trackClicks: clicks } = campaign;
    const tracks = await readTracking(projectId, fromEmail ?? '', { opens, clicks });
    if (tracks[metric]) return { campaign, body };
    throw invalid({
      field: metric === 'opens' ? 'trackOpens' : 'trackClicks',
      message: `must be on, because ${metric} decide the test`,
    });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(error.code, `Variant ${labelOf(index)}: ${error.message}`, error.details.map(problemOf));
  }
}

/** Signals that a transaction must be rolled back because a row was changed meanwhile. */
class Changed extends Error {}

async function start(test: AbTest, ready: readonly ReadyVariant[]): Promise<boolean> {
  const { id, version, durationHours, samplePercent } = test;
  const byId = ready
    .map((variant, index) => ({ variant, share: shareOf(index, { samplePercent, variants: ready.length }) }))
    .toSorted((a, b) => (a.variant.campaign.id < b.variant.campaign.id ? -1 : 1));
  const startedAt = databaseTime();
  const endsAt = new Date(startedAt.getTime() + durationHours * 3_600_000);
  return db
    .$transaction(async (tx) => {
      const data = { status: 'testing', startedAt, endsAt, version: { increment: 1 } } as const;
      const { count } = await tx.abTest.updateMany({ where: { id, version, status: 'draft' }, data });
      if (count === 0) throw new Changed();
      for (const { variant, share } of byId) if (!(await startVariant(tx, variant, share))) throw new Changed();
      await startWorkflow(tx, workflowOf(test));
      await announce(tx, topicOf(id));
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof Changed) return false;
      throw error;
    });
}

/** The workflow that ends a test. Started again, it goes on waiting. */
export const workflowOf = ({ id, projectId }: Pick<AbTest, 'id' | 'projectId'>): WorkflowStart => ({
  workflowId: id,
  type: 'endAbTest',
  args: [id],
  summary: 'A/B test of campaigns',
  searchAttributes: { projectId },
  restartable: true,
});

/** How long a test that is due waits while sending is held, before it looks again. */
const HELD_POLL_MS = 60_000;

/**
 * Ends a test whose time is up: chooses the variant with the best rate, the first of equal ones, and sends it to the rest. If users have
 * canceled all variants, the test is canceled.
 * @returns the milliseconds until then, or null if it has ended or a user has to choose.
 */
export async function endIfDue(id: string): Promise<number | null> {
  const test = await db.abTest.findUnique({ where: { id } });
  if (test?.status !== 'testing' || test.endsAt === null) return null;
  const waitMs = test.endsAt.getTime() - databaseNow();
  if (waitMs > 0) return waitMs;
  // In a restored database a winner may be missing that was chosen, and sent, after the restored point.
  if ((await heldReason()) !== undefined) return HELD_POLL_MS;
  const variants = await variantsOf(test);
  const winner = leaderOf(variants, test.metric) ?? candidatesOf(variants)[0];
  if (winner === undefined) await db.$transaction((tx) => cancel(tx, test));
  else await complete(test, winner, { decision: decisionOf(variants, test.metric) });
  return null;
}

/**
 * Leaves the choice of the winner to users in all tests that run, after a restore: it may have been made, and the winner sent to the
 * rest, after the restored point.
 * @returns how many tests there were.
 */
export async function endTimersAfterRestore(): Promise<number> {
  const { count } = await db.abTest.updateMany({
    where: { status: 'testing', endsAt: { not: null } },
    data: { endsAt: null },
  });
  return count;
}

/**
 * Ends a test with the winner that a user chose, before its time is up.
 * @throws DomainError `not_found`, `conflict` unless it is running, `validation_error` if the campaign is none of its variants.
 */
export async function chooseWinner(projectId: string, authorId: string, id: string, campaignId: string): Promise<void> {
  const test = await getAbTest(projectId, id);
  const winner = (await variantsOf(test)).find((variant) => variant.id === campaignId);
  if (winner === undefined) throw invalid({ field: 'campaignId', message: 'is not a variant of this A/B test' });
  if (test.status !== 'testing') throw notTesting(test.status);
  if (!(await complete(test, winner, { chosenById: authorId }))) throw notTesting('completed');
}

const notTesting = (status: AbTest['status']) =>
  new DomainError('conflict', status === 'draft' ? 'This A/B test has not been started.' : 'This A/B test has ended.');

/** Stores the winner and makes the campaign for the rest, unless the test has ended. The UPDATE's condition lets only one caller win. */
function complete(
  test: AbTest,
  winner: Campaign,
  { chosenById = null, decision = null }: { chosenById?: string | null; decision?: Decision | null },
): Promise<boolean> {
  const { id, projectId, samplePercent } = test;
  const finalCampaignId = samplePercent === 100 ? null : newId('cmp');
  const choice = { winnerId: winner.id, chosenById, finalCampaignId };
  return db.$transaction(async (tx) => {
    const { count } = await tx.abTest.updateMany({
      where: { id, status: 'testing' },
      data: { status: 'completed', completedAt: databaseTime(), decision, ...choice },
    });
    if (count === 0) return false;
    if (finalCampaignId !== null) await sendToRest(tx, winner, finalCampaignId);
    await record(tx, projectId, [abTestCompleted(test, choice)]);
    await announce(tx, topicOf(id));
    return true;
  });
}

/** Cancels a running test and what its variants have not sent; no one else gets anything. @throws DomainError `not_found`, `conflict`. */
export async function cancelAbTest(projectId: string, id: string): Promise<void> {
  const test = await getAbTest(projectId, id);
  if (!(await db.$transaction((tx) => cancel(tx, test))))
    throw notTesting(test.status === 'draft' ? 'draft' : 'canceled');
}

/** @returns false, having changed nothing, unless the test was running. */
async function cancel(tx: Prisma.TransactionClient, test: AbTest): Promise<boolean> {
  const { id, projectId, variantIds } = test;
  const { count } = await tx.abTest.updateMany({
    where: { id, status: 'testing' },
    data: { status: 'canceled', completedAt: databaseTime() },
  });
  if (count === 0) return false;
  await cancelVariants(tx, variantIds);
  await record(tx, projectId, [abTestCanceled(test)]);
  await announce(tx, topicOf(id));
  return true;
}
