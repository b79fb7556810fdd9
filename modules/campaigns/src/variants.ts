/**
 * The campaigns of an A/B test: its variants, each sent to a share of the audience, and the one that sends the winner to the rest. The
 * module ab-tests decides when they are made, sent and canceled, in its own transactions.
 */
import { databaseTime, db, DomainError, MAX_NAME_LENGTH, newId, type Prisma, startWorkflow } from '@postroom/platform';
import { type Campaign, checkDrafts } from './campaigns.ts';
import { type Body, cancelIn, start } from './sending.ts';
import type { Share } from './share.ts';
import { timerOf } from './workflow.ts';

/**
 * Makes a draft the first variant of a test.
 * @throws DomainError `conflict` if it is not a draft, or belongs to a test already.
 */
export async function assignToTest(tx: Prisma.TransactionClient, id: string, abTestId: string): Promise<void> {
  const { count } = await tx.campaign.updateMany({
    where: { id, status: 'draft', abTestId: null },
    data: { abTestId },
  });
  if (count === 0)
    throw new DomainError('conflict', 'An A/B test needs a draft campaign that belongs to no other A/B test.');
}

/** What a copy of a campaign shares with it: what is sent, by whom, how fast and to whom. */
function contentOf(campaign: Campaign): Omit<Prisma.CampaignUncheckedCreateInput, 'id' | 'name'> {
  const { projectId, subject, previewText, fromName, fromEmail, replyTo, html, format, source, text } = campaign;
  const { templateId, templateVersion, groupIds, segmentIds, excludedGroupIds, excludedSegmentIds } = campaign;
  const { utmSource, utmMedium, utmCampaign, utmTerm, utmContent, ratePerSecond, trackOpens, trackClicks } = campaign;
  const letter = { projectId, subject, previewText, fromName, fromEmail, replyTo, html, format, source, text };
  const audience = { templateId, templateVersion, groupIds, segmentIds, excludedGroupIds, excludedSegmentIds };
  const links = { utmSource, utmMedium, utmCampaign, utmTerm, utmContent, ratePerSecond, trackOpens, trackClicks };
  return { ...letter, ...audience, ...links, abTestId: campaign.abTestId };
}

/** The name of a copy: as much of the campaign's as fits before the suffix. */
const nameOf = (name: string, suffix: string) =>
  `${name.slice(0, MAX_NAME_LENGTH - suffix.length).toWellFormed()}${suffix}`;

/**
 * Copies a variant into further drafts of its test, one for each suffix of its name. Its lock makes edits of the audience wait.
 * @throws DomainError `conflict` if the project has too many drafts.
 */
export async function copyVariant(
  tx: Prisma.TransactionClient,
  authorId: string,
  id: string,
  suffixes: readonly string[],
): Promise<string[]> {
  await tx.$executeRaw`SELECT FROM campaigns WHERE id = ${id} FOR NO KEY UPDATE`;
  const variant = await tx.campaign.findUniqueOrThrow({ where: { id } });
  const data = suffixes.map((suffix) => ({
    ...contentOf(variant),
    id: newId('cmp'),
    name: nameOf(variant.name, suffix),
    editedById: authorId,
  }));
  await tx.campaign.createMany({ data });
  await checkDrafts(tx, variant.projectId);
  return data.map(({ id }) => id);
}

/** Deletes drafts of a test. */
export async function deleteVariants(
  tx: Prisma.TransactionClient,
  abTestId: string,
  ids: readonly string[],
): Promise<void> {
  await tx.campaign.deleteMany({ where: { abTestId, id: { in: [...ids] }, status: 'draft' } });
}

/** Renames drafts of a test, as edits do, in the order of their ids. */
export async function renameVariants(
  tx: Prisma.TransactionClient,
  renamed: readonly { id: string; name: string }[],
): Promise<void> {
  for (const { id, name } of renamed.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    await tx.campaign.updateMany({ where: { id, status: 'draft' }, data: { name, version: { increment: 1 } } });
}

/** Makes a draft of a test an ordinary one. */
export async function releaseFromTest(tx: Prisma.TransactionClient, id: string): Promise<void> {
  await tx.campaign.updateMany({ where: { id, status: 'draft' }, data: { abTestId: null } });
}

/** A variant that passed every check of a send. */
export interface ReadyVariant {
  campaign: Campaign;
  body: Body;
}

/** Starts a variant for its share. @returns false if it was changed since it was checked. */
export const startVariant = (
  tx: Prisma.TransactionClient,
  { campaign, body }: ReadyVariant,
  { from, to }: Share,
): Promise<boolean> => start(tx, campaign, { ...body, shareFrom: from, shareTo: to });

/**
 * Sends what a variant sent to the rest of the audience, as a campaign that is scheduled for now. So whatever keeps it from starting
 * pauses it, with the reason.
 */
export async function sendToRest(tx: Prisma.TransactionClient, winner: Campaign, id: string): Promise<void> {
  const campaign = {
    id,
    projectId: winner.projectId,
    name: nameOf(winner.name, ' (winner)'),
    scheduledAt: databaseTime(),
  };
  await tx.campaign.create({ data: { ...contentOf(winner), ...campaign, status: 'scheduled' } });
  await startWorkflow(tx, timerOf(campaign));
}

/** Cancels the campaigns that have not ended, in the order of their ids. */
export async function cancelVariants(tx: Prisma.TransactionClient, ids: readonly string[]): Promise<void> {
  for (const id of ids.toSorted()) await cancelIn(tx, id);
}

/** Campaigns by id, in the order of their ids, without what is sent. */
export const findProgress = (projectId: string, ids: readonly string[]) =>
  db.campaign.findMany({
    where: { projectId, id: { in: [...ids] } },
    omit: { html: true, source: true, text: true },
    orderBy: { id: 'asc' },
  });

/** Campaigns by id, in any order. */
export const findCampaigns = (projectId: string, ids: readonly string[]): Promise<Campaign[]> =>
  db.campaign.findMany({ where: { projectId, id: { in: [...ids] } } });
