import { audienceProblems } from '@postroom/groups';
import { checkSenderMailbox } from '@postroom/emails';
import { MAX_SUBJECT_LENGTH, subjectLine } from '@postroom/templating';
import {
  assertValid,
  db,
  DomainError,
  emptyUpdate,
  normalizeEmail,
  type FieldProblem,
  invalid,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readRows,
  type RowsQuery,
  versionConflict,
  signalWorkflow,
  nameContains,
  oneLineProblems,
  senderProblem,
  displayNameProblems,
  checkLimit,
  normalizeText,
} from '@postroom/platform';
import { type ContentFormat, placeholderProblems, readBody, resolveSubmittedBody } from '@postroom/templates';
import { workflowIdOf } from './workflow.ts';

export type Campaign = Prisma.CampaignModel;

/** The editable fields of a campaign. `null` clears a field, `undefined` leaves it unchanged. */
export interface CampaignInput {
  name?: string | null | undefined;
  subject?: string | null | undefined;
  previewText?: string | null | undefined;
  fromName?: string | null | undefined;
  fromEmail?: string | null | undefined;
  replyTo?: string | null | undefined;
  html?: string | null | undefined;
  /** The format of `html`; HTML by default. */
  format?: ContentFormat | null | undefined;
  text?: string | null | undefined;
  templateId?: string | null | undefined;
  groupIds?: readonly string[] | null | undefined;
  segmentIds?: readonly string[] | null | undefined;
  excludedGroupIds?: readonly string[] | null | undefined;
  excludedSegmentIds?: readonly string[] | null | undefined;
  utmSource?: string | null | undefined;
  utmMedium?: string | null | undefined;
  utmCampaign?: string | null | undefined;
  utmTerm?: string | null | undefined;
  utmContent?: string | null | undefined;
  ratePerSecond?: number | null | undefined;
  trackOpens?: boolean | null | undefined;
  trackClicks?: boolean | null | undefined;
}

export const MAX_BODY_LENGTH = 500_000;
export const MAX_AUDIENCE = 100;
/** Mail programs show up to about 150 characters. */
export const MAX_PREVIEW_LENGTH = 300;
export const MAX_UTM_LENGTH = 200;
const UTM_FIELDS = ['utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent'] as const;
const AUDIENCE_FIELDS = ['groupIds', 'segmentIds', 'excludedGroupIds', 'excludedSegmentIds'] as const;
const MAX_RATE = 100_000;
const MAX_DRAFTS = 2_000;

/**
 * Creates a draft, which may be incomplete. `authorId` is the user or API key: `usr_…` or `key_…`.
 * @throws DomainError `validation_error` naming each bad field, `conflict` if the project has too many drafts.
 */
export async function createCampaign(projectId: string, authorId: string, input: CampaignInput): Promise<Campaign> {
  if (input.name == null) throw invalid({ field: 'name', message: 'is required' });
  const data = await validate(projectId, input);
  const own = { id: newId('cmp'), projectId, editedById: authorId, name: normalizeText(input.name) };
  return db.$transaction(async (tx) => {
    const created = await tx.campaign.create({ data: { ...data, ...own } });
    await checkDrafts(tx, projectId);
    return created;
  });
}

/** @throws DomainError `conflict` if the project has too many drafts. */
export async function checkDrafts(tx: Prisma.TransactionClient, projectId: string): Promise<void> {
  const limit = { of: projectId, rows: 'campaigns that are drafts', max: MAX_DRAFTS };
  await checkLimit(tx, limit, () => tx.campaign.count({ where: { projectId, status: 'draft' } }));
}

/** @throws DomainError `not_found`. */
export async function getCampaign(projectId: string, id: string, query: RowsQuery = {}): Promise<Campaign> {
  const campaign = isId('cmp', id) ? await db.campaign.findFirst({ ...query, where: { id, projectId } }) : null;
  if (campaign === null) throw notFound('campaign');
  return campaign;
}

/**
 * The campaign with recipients that was started before another one, or null. Others of the same A/B test don't count: they go to
 * other shares of one audience. @throws DomainError `not_found`.
 */
export async function previousCampaign(projectId: string, id: string, query: RowsQuery): Promise<Campaign | null> {
  const { startedAt, abTestId } = await getCampaign(projectId, id);
  if (startedAt === null) return null;
  const isOther = abTestId === null ? {} : { OR: [{ abTestId: null }, { abTestId: { not: abTestId } }] };
  const where = { projectId, startedAt: { lt: startedAt }, recipientCount: { gt: 0 }, ...isOther };
  return db.campaign.findFirst({ ...query, where, orderBy: { startedAt: 'desc' } });
}

export interface CampaignFilter {
  status?: Campaign['status'] | null | undefined;
  /** Part of the name, ignoring case. */
  search?: string | null | undefined;
}

/** The project's campaigns, newest first. */
export async function listCampaigns(
  projectId: string,
  { status, search }: CampaignFilter,
  args: PageArgs,
  query: RowsQuery,
): Promise<Page<Campaign>> {
  const where = { projectId, ...(status == null ? {} : { status }), ...nameContains(search) };
  return readRows(db.campaign, 'cmp', args, where, query);
}

/** What an edit is based on. */
interface EditConditions {
  version?: number | null | undefined;
  ifStatus?: Campaign['status'] | null | undefined;
}

/** A campaign for the rest of an A/B test's audience that could not start. */
const UNSTARTED_WINNER = { status: 'paused', startedAt: null, abTestId: { not: null } } as const;

/**
 * Updates the given fields. Draft and scheduled campaigns are fully editable; a sending or paused one accepts only a new rate,
 * which takes effect within seconds. The winner of an A/B test that could not start accepts a new audience too: it is sent as it was tested,
 * but a group may have been deleted since. Of two concurrent edits that name the same version, one fails.
 * @throws DomainError `not_found`, `validation_error` for an empty update or a bad field, `conflict` if the status does not allow
 * the edit or is not `ifStatus`, or `version` is no longer current.
 */
export async function updateCampaign(
  projectId: string,
  authorId: string,
  id: string,
  { version, ifStatus, ...input }: CampaignInput & EditConditions,
): Promise<void> {
  const { html, format, source } = await getCampaign(projectId, id);
  const data = await validate(projectId, {
    ...input,
    html: resolveSubmittedBody(input.html, input.format, { html, format, source }),
  });
  if (Object.keys(data).length === 0) throw emptyUpdate();
  const isRateOnly = Object.keys(data).join() === 'ratePerSecond';
  const isAudienceOnly =
    ifStatus == null && Object.keys(data).every((field) => AUDIENCE_FIELDS.some((known) => known === field));
  await db.$transaction(async (tx) => {
    const editable: Campaign['status'][] = isRateOnly
      ? ['draft', 'scheduled', 'sending', 'paused']
      : ['draft', 'scheduled'];
    const statuses = editable.filter((status) => ifStatus == null || status === ifStatus);
    await shareAudience(tx, id, authorId, data);
    const { count } = await tx.campaign.updateMany({
      where: {
        id,
        projectId,
        OR: [{ status: { in: statuses } }, ...(isAudienceOnly ? [UNSTARTED_WINNER] : [])],
        ...(version == null ? {} : { version }),
      },
      data: { ...data, version: { increment: 1 }, editedById: authorId },
    });
    const now = await tx.campaign.findUnique({
      where: { id },
      select: { status: true, run: true, startedAt: true, abTestId: true },
    });
    if (now === null) throw notFound('campaign');
    const isUnstarted = now.status === 'paused' && now.startedAt === null;
    const isWinner = isUnstarted && now.abTestId !== null;
    if (count === 0 && (statuses.includes(now.status) || (isWinner && isAudienceOnly)))
      throw versionConflict('campaign');
    if (count === 0 && editable.includes(now.status))
      throw new DomainError('conflict', `This campaign is ${now.status} now, so the edit was not applied.`, [
        { field: 'ifStatus', message: `is ${now.status} now` },
      ]);
    if (count === 0) {
      const advice = isWinner
        ? ' Of the winner of an A/B test, only the audience can be changed.'
        : ' This one has not started: unschedule it first.';
      throw new DomainError(
        'conflict',
        `Only a draft or scheduled campaign can be edited.${isUnstarted ? advice : ''}`,
      );
    }
    // Before it is started it has no workflow, and a signal that waits for one would delay its start.
    if (!isRateOnly || now.startedAt === null) return;
    await signalWorkflow(tx, { workflowId: workflowIdOf({ id, run: now.run }), signal: 'changeRate' });
  });
}

/**
 * All variants of an A/B test have the audience of the one that is edited. Locks them in the order of their ids, as every statement
 * that locks several campaigns does.
 */
async function shareAudience(
  tx: Prisma.TransactionClient,
  id: string,
  editedById: string,
  data: Partial<Campaign>,
): Promise<void> {
  const audience = Object.fromEntries(
    AUDIENCE_FIELDS.flatMap((field) => (field in data ? [[field, data[field]]] : [])),
  ) as Partial<Record<(typeof AUDIENCE_FIELDS)[number], string[]>>;
  if (Object.keys(audience).length === 0) return;
  const [variant] = await tx.$queryRaw<{ abTestId: string }[]>`
    SELECT v.ab_test_id AS "abTestId" FROM campaigns v JOIN campaigns c ON c.ab_test_id = v.ab_test_id
    WHERE c.id = ${id} AND v.status = 'draft' ORDER BY v.id FOR NO KEY UPDATE OF v`;
  if (variant === undefined) return;
  const isSame = Object.fromEntries(Object.entries(audience).map(([field, ids]) => [field, { equals: ids }]));
  // By test, because a variant that was added while this waited for the locks was not among those that were to be locked.
  await tx.campaign.updateMany({
    where: { abTestId: variant.abTestId, id: { not: id }, status: 'draft', NOT: isSame },
    data: { ...audience, version: { increment: 1 }, editedById },
  });
}

/** Deletes a draft. @throws DomainError `not_found`, `conflict` for a campaign that is not a draft, or belongs to an A/B test. */
export async function deleteCampaign(projectId: string, id: string): Promise<void> {
  await getCampaign(projectId, id);
  const { count } = await db.campaign.deleteMany({ where: { id, projectId, status: 'draft', abTestId: null } });
  if (count === 0) throw new DomainError('conflict', 'Only a draft that belongs to no A/B test can be deleted.');
}

/** Validates the given fields and converts them to their stored form. */
async function validate(projectId: string, input: CampaignInput): Promise<Partial<Campaign>> {
  const content =
    input.html == null ? undefined : await readBody(projectId, 'html', input.html, input.format ?? 'html');
  const problems = [
    ...textProblems(input),
    ...(content?.problems ?? []),
    ...senderProblems(input),
    ...(await referenceProblems(projectId, input)),
  ];
  assertValid(problems);
  const { name, format: _format, ...rest } = input;
  const data = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Partial<Campaign>;
  if (name != null) data.name = normalizeText(name);
  if (input.subject != null) data.subject = subjectLine(input.subject);
  if (input.fromEmail != null) data.fromEmail = normalizeEmail(input.fromEmail);
  for (const field of AUDIENCE_FIELDS) if (input[field] !== undefined) data[field] = [...new Set(input[field])];
  for (const field of ['previewText', ...UTM_FIELDS] as const)
    if (input[field] != null) data[field] = input[field].trim() === '' ? null : input[field].trim();
  if (input.html !== undefined) {
    const { html, format, source } = content?.body ?? { html: null, format: 'html', source: null };
    Object.assign(data, { html, format, source });
  }
  // A campaign has either its own body or a template; setting one clears the other.
  if (input.html != null) data.templateId = null;
  if (input.templateId != null)
    Object.assign(data, { html: null, format: 'html', source: null, templateVersion: null });
  return data;
}

function textProblems(input: CampaignInput): FieldProblem[] {
  const { name, subject, previewText, html, format, text, ratePerSecond } = input;
  return [
    ...displayNameProblems({ name: name === null ? '' : name }),
    ...templateProblems('subject', subject, MAX_SUBJECT_LENGTH),
    ...templateProblems('previewText', previewText, MAX_PREVIEW_LENGTH),
    ...UTM_FIELDS.flatMap((field) =>
      (input[field]?.length ?? 0) <= MAX_UTM_LENGTH
        ? []
        : [{ field, message: `must be at most ${MAX_UTM_LENGTH} characters` }],
    ),
    ...(format == null || html != null ? [] : [{ field: 'format', message: 'requires html' }]),
    ...templateProblems('text', text, MAX_BODY_LENGTH),
    ...(ratePerSecond == null || (ratePerSecond >= 1 && ratePerSecond <= MAX_RATE)
      ? []
      : [{ field: 'ratePerSecond', message: `must be between 1 and ${MAX_RATE}` }]),
  ];
}

function templateProblems(
  field: 'subject' | 'previewText' | 'text',
  source: string | null | undefined,
  maxLength: number,
): FieldProblem[] {
  if (source == null) return [];
  if (source.length > maxLength) return [{ field, message: `must be at most ${maxLength} characters` }];
  return placeholderProblems(field, source, field === 'text' ? 'text' : 'subject');
}

function senderProblems({ fromName, fromEmail, replyTo }: CampaignInput): FieldProblem[] {
  const replyMailbox = replyTo == null ? undefined : checkSenderMailbox(replyTo);
  const emailIssue = fromEmail == null ? undefined : senderProblem(fromEmail.trim());
  return [
    ...oneLineProblems({ fromName }),
    ...(emailIssue === undefined ? [] : [{ field: 'fromEmail', message: emailIssue }]),
    ...(typeof replyMailbox === 'string' ? [{ field: 'replyTo', message: replyMailbox }] : []),
  ];
}

async function referenceProblems(projectId: string, input: CampaignInput): Promise<FieldProblem[]> {
  const { html, templateId } = input;
  const tooLong = AUDIENCE_FIELDS.filter((field) => (input[field]?.length ?? 0) > MAX_AUDIENCE);
  if (tooLong.length > 0) return tooLong.map((field) => ({ field, message: `must be at most ${MAX_AUDIENCE} ids` }));
  const { groupIds, segmentIds, excludedGroupIds, excludedSegmentIds } = input;
  const known = templateId == null ? 1 : await db.template.count({ where: { id: templateId, projectId } });
  return [
    ...(html != null && templateId != null ? [{ field: 'html', message: 'must not be combined with templateId' }] : []),
    ...(known === 1 ? [] : [{ field: 'templateId', message: 'is not a template of this project' }]),
    ...(await audienceProblems(pool, projectId, {
      groupIds: groupIds ?? [],
      segmentIds: segmentIds ?? [],
      excludedGroupIds: excludedGroupIds ?? [],
      excludedSegmentIds: excludedSegmentIds ?? [],
    })),
  ];
}
