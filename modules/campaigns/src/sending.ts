import { hasRecipients, sendProblems } from '@postroom/groups';
import { MessageError } from '@postroom/mime';
import { subjectProblem } from '@postroom/content-warnings';
import { parseTemplate } from '@postroom/templating';
import { sendingProblem } from '@postroom/transports';
import {
  checkLimit,
  databaseTime,
  db,
  DomainError,
  type FieldProblem,
  invalid,
  pool,
  type Prisma,
  record,
  signalWorkflow,
  startWorkflow,
  checkVersion,
} from '@postroom/platform';
import { type Campaign, getCampaign } from './campaigns.ts';
import { compileCampaign, contentOf } from './content.ts';
import { campaignCommanded, campaignScheduled } from './events.ts';
import { NO_LOCAL_TIME, readSchedule, type ScheduleInput } from './local-time.ts';
import { autoPause, fieldInWords, senderBlock } from './send-monitor.ts';
import { startSending, timerOf, workflowIdOf } from './workflow.ts';

/**
 * Starts a draft or scheduled campaign now, for all recipients (spec: Campaigns, Send errors). Its workflow takes their snapshot.
 * @throws DomainError, checked in this order. `not_found`. `conflict` in any other status, or if the campaign was edited since
 * `version`. `validation_error` that names everything missing. `forbidden` if the sender's domain is no longer verified or is
 * blocked by an automatic pause.
 */
export async function sendCampaign(projectId: string, id: string, version?: number | null): Promise<void> {
  const condition = (campaign: Campaign) => {
    const problem = statusProblem(campaign);
    if (problem !== undefined) throw new DomainError('conflict', problem);
    checkVersion('campaign', version, campaign.version);
    return true;
  };
  await sendIf(projectId, id, condition, NO_LOCAL_TIME);
}

/** Starts a draft or scheduled campaign as `sendCampaign` does, as long as a condition holds. @returns whether it was started. */
async function sendIf(
  projectId: string,
  id: string,
  condition: (campaign: Campaign) => boolean,
  values: StartValues = {},
): Promise<boolean> {
  for (;;) {
    const campaign = await getCampaign(projectId, id);
    if (!condition(campaign)) return false;
    const body = await checkReady(campaign);
    if (await db.$transaction((tx) => start(tx, campaign, { ...body, ...values }))) return true;
    // The campaign was edited or started since it was read, so check it again.
  }
}

export type State = Pick<Campaign, 'status' | 'pauseReason' | 'startedAt' | 'abTestId'>;

/** Why a campaign cannot be sent in its current status; undefined for a draft or scheduled one that belongs to no A/B test. */
export function statusProblem({ status, pauseReason, startedAt, abTestId }: State): string | undefined {
  const correct = abTestId === null ? 'unschedule it to edit it' : 'change its audience';
  switch (status) {
    case 'draft':
    case 'scheduled':
      return abTestId === null ? undefined : PART_OF_TEST;
    case 'sending':
      return 'This campaign is already being sent.';
    case 'paused':
      return `This campaign is paused${pauseReason === null ? '' : ` (${pauseReason})`}: resume it${startedAt === null ? ` to start sending, or ${correct}` : ''}.`;
    case 'completed':
      return 'This campaign is completed and cannot be sent again.';
    case 'canceled':
      return 'This campaign was canceled and cannot be sent.';
  }
}

const PART_OF_TEST = 'This campaign belongs to an A/B test, which sends it.';

/** The content copied from a campaign's template at the start, and its version; empty if the campaign has its own body. */
export interface Body {
  html?: string;
  format?: Campaign['format'];
  source?: string | null;
  subject?: string;
  templateVersion?: number;
}

/** What a campaign gets at its start. */
type StartValues = Body & { shareFrom?: number; shareTo?: number } & Partial<typeof NO_LOCAL_TIME>;

/** Starts the campaign if it is unchanged since it was read. The UPDATE's condition lets only one concurrent caller win. */
export async function start(tx: Prisma.TransactionClient, campaign: Campaign, body: StartValues): Promise<boolean> {
  const { id, status, updatedAt } = campaign;
  const { count } = await tx.campaign.updateMany({
    where: { id, status, updatedAt },
    data: {
      ...body,
      status: 'sending',
      startedAt: databaseTime(),
      isCounted: true,
      pauseReason: null,
      pauseBlocksSender: false,
    },
  });
  if (count === 0) return false;
  // Fix the project's tracking settings now, like everything else about the campaign.
  await tx.$executeRaw`UPDATE campaigns c SET track_opens = coalesce(c.track_opens, p.track_opens),
    track_clicks = coalesce(c.track_clicks, p.track_clicks) FROM projects p WHERE c.id = ${id} AND p.id = c.project_id`;
  await startSending(tx, campaign);
  return true;
}

/**
 * Checks that a campaign can be sent now.
 * @returns the content of its template.
 * @throws DomainError `validation_error` naming each thing that is missing, then `forbidden` for a sender that may not send.
 */
export async function checkReady(campaign: Campaign): Promise<Body> {
  const { problems, body } = await missingParts(campaign);
  const [first] = problems;
  if (first !== undefined) {
    const fields = problems.map(({ field }) => field).join(', ');
    throw new DomainError('validation_error', `The campaign is incomplete: ${fields}.`, problems);
  }
  await checkSender(campaign);
  await checkMessage({ ...campaign, ...body });
  return body;
}

/** @throws DomainError `validation_error` if the campaign's message cannot be composed. */
async function checkMessage(campaign: Campaign): Promise<void> {
  try {
    await compileCampaign(await contentOf(campaign));
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    throw invalid({ field: error.field, message: error.message });
  }
}

/** @throws DomainError `forbidden` for a sender that may not send: not verified, or blocked by auto-pause. */
export async function checkSender(campaign: Campaign): Promise<void> {
  const problem = await senderProblemFor(campaign);
  if (problem !== undefined) throw new DomainError('forbidden', problem);
}

/** Why a campaign's sender may not send now; undefined if it may. */
export async function senderProblemFor(campaign: Campaign): Promise<string | undefined> {
  const { projectId, fromEmail } = campaign;
  return (await sendingProblem(projectId, fromEmail ?? '')) ?? (await senderBlock(campaign));
}

/** Everything required that a campaign lacks, and the content of its template. */
export async function missingParts(campaign: Campaign): Promise<{ problems: FieldProblem[]; body: Body }> {
  const { projectId } = campaign;
  const { problems: bodyProblems, body } = await templateBody(campaign);
  const subject = campaign.subject ?? body.subject ?? '';
  const wrongSubject = subjectProblem(subject);
  const html = body.html ?? campaign.html ?? '';
  const groupProblems = await sendProblems(pool, projectId, campaign);
  const problems = [
    ...(wrongSubject === undefined ? [] : [{ field: 'subject', message: wrongSubject }]),
    ...(campaign.fromEmail ? [] : [{ field: 'fromEmail', message: 'is required' }]),
    ...(html.trim() === '' && bodyProblems.length === 0
      ? [{ field: 'html', message: 'is required, unless a template is chosen' }]
      : []),
    ...bodyProblems,
    ...groupProblems,
    ...(groupProblems.length === 0 && !(await hasRecipients(projectId, campaign))
      ? [{ field: 'recipients', message: 'must be at least one contact, in groups or segments' }]
      : []),
  ];
  return { problems, body };
}

async function templateBody({
  projectId,
  templateId,
  templateVersion,
  subject,
}: Campaign): Promise<{ problems: FieldProblem[]; body: Body }> {
  // The winner of an A/B test is sent as it was tested, whatever the template has become.
  if (templateId === null || templateVersion !== null) return { problems: [], body: {} };
  const template = await db.template.findFirst({ where: { id: templateId, projectId } });
  const problem = (message: string) => ({ problems: [{ field: 'templateId', message }], body: {} });
  if (template === null) return problem('is no longer a template of this project');
  if (template.status !== 'published') return problem('is not published');
  const [syntax] = parseTemplate(template.body, 'html').problems;
  if (syntax !== undefined) {
    return problem(`has an invalid body at line ${syntax.line}, column ${syntax.column}: ${syntax.message}`);
  }
  return {
    problems: [],
    body: {
      html: template.body,
      format: template.format,
      source: template.source,
      templateVersion: template.publishedVersion ?? template.version,
      ...(subject === null && template.subject !== null ? { subject: template.subject } : {}),
    },
  };
}

/**
 * Schedules or reschedules a campaign, for an instant or a local time; a durable timer starts it. The campaign must be ready to send now.
 * @throws DomainError as `sendCampaign`, and `validation_error` as `readSchedule`.
 */
export async function scheduleCampaign(
  projectId: string,
  id: string,
  { version, ...input }: ScheduleInput & { version?: number | null | undefined },
): Promise<void> {
  const campaign = await getCampaign(projectId, id);
  const conflict = scheduleStatusProblem(campaign);
  if (conflict !== undefined) throw new DomainError('conflict', conflict);
  const schedule = await readSchedule(projectId, input);
  checkVersion('campaign', version, campaign.version);
  await checkReady(campaign);
  await db.$transaction(async (tx) => {
    const { count } = await tx.campaign.updateMany({
      where: {
        id,
        projectId,
        status: { in: ['draft', 'scheduled'] },
        abTestId: null,
        ...(version == null ? {} : { version }),
      },
      data: { status: 'scheduled', ...schedule },
    });
    if (count === 0) {
      const newest = await tx.campaign.findFirst({ where: { id, projectId } });
      if (newest !== null) checkVersion('campaign', version, newest.version);
      throw new DomainError('conflict', NOT_SCHEDULABLE);
    }
    const limit = { of: projectId, rows: 'scheduled campaigns', max: MAX_SCHEDULED };
    await checkLimit(tx, limit, () => tx.campaign.count({ where: { projectId, status: 'scheduled' } }));
    await startWorkflow(tx, timerOf({ ...campaign, scheduledAt: schedule.scheduledAt }));
    await record(tx, projectId, [campaignScheduled(campaign, schedule.scheduledAt)]);
  });
}

const MAX_SCHEDULED = 500;
const NOT_SCHEDULABLE = 'Only a draft or scheduled campaign can be scheduled.';

/** Why a campaign cannot be scheduled in its current status; undefined for one that `statusProblem` accepts. */
export const scheduleStatusProblem = (campaign: State): string | undefined => {
  const problem = statusProblem(campaign);
  return problem === undefined || problem === PART_OF_TEST ? problem : NOT_SCHEDULABLE;
};

/**
 * Turns a scheduled campaign back into a draft, or one that could not start at its scheduled time, so that what kept it can be corrected.
 * @throws DomainError `not_found`, `conflict` for any other.
 */
export async function unscheduleCampaign(projectId: string, id: string): Promise<void> {
  const campaign = await getCampaign(projectId, id);
  if (campaign.abTestId !== null)
    throw new DomainError('conflict', `${PART_OF_TEST} If it could not start, its audience can be changed.`);
  await db.$transaction(async (tx) => {
    const { count } = await tx.campaign.updateMany({
      where: { id, projectId, abTestId: null, OR: [{ status: 'scheduled' }, { status: 'paused', startedAt: null }] },
      data: {
        status: 'draft',
        scheduledAt: null,
        ...NO_LOCAL_TIME,
        pauseReason: null,
        pauseBlocksSender: false,
      },
    });
    if (count === 0) throw new DomainError('conflict', 'This campaign is not scheduled.');
    await record(tx, projectId, [campaignCommanded('campaign.unscheduled', campaign)]);
  });
}

/** Starts a campaign at its scheduled time, unless it was rescheduled. If it cannot start, pauses it with the reason. */
export async function startScheduled(id: string, scheduledAt: Date): Promise<'started' | 'moved' | 'paused'> {
  const campaign = await db.campaign.findUnique({ where: { id }, select: { projectId: true } });
  if (campaign === null) return 'moved';
  const isDue = (now: Campaign) => now.status === 'scheduled' && now.scheduledAt?.getTime() === scheduledAt.getTime();
  try {
    return (await sendIf(campaign.projectId, id, isDue)) ? 'started' : 'moved';
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'conflict' || error.code === 'not_found') return 'moved';
    return (await pauseScheduled(id, scheduledAt, reasonOf(error))) ? 'paused' : 'moved';
  }
}

const MAX_REASONS = 5;

/** Why a campaign could not start, as a sentence for people, who don't know ids: what is missing. */
function reasonOf({ message, details }: DomainError): string {
  if (details.length === 0) return message;
  const inWords = (text: string) => text.replace(/^\w+ is not a (group|segment) of this project$/, 'a $1 was deleted');
  const reasons = details
    .slice(0, MAX_REASONS)
    .map((detail) => `${fieldInWords(detail.field)}: ${inWords(detail.message)}`);
  return `${reasons.join('; ')}${details.length > MAX_REASONS ? '; …' : '.'}`;
}

/** Pauses a campaign that could not start at its scheduled time, and says why. @returns false if it was rescheduled meanwhile. */
export const pauseScheduled = (id: string, scheduledAt: Date, reason: string): Promise<boolean> =>
  autoPause(id, `The campaign could not start at its scheduled time. ${reason}`, { from: 'scheduled', scheduledAt });

/** Pauses a sending campaign; messages in flight are still sent. @throws DomainError `not_found`, `conflict`. */
export async function pauseCampaign(projectId: string, id: string): Promise<void> {
  await command(projectId, id, { from: ['sending'], data: { status: 'paused', pauseReason: null }, signal: 'pause' });
}

/**
 * Resumes a paused campaign. After a pause over bounces or complaints, rates are counted from zero.
 * @throws DomainError `not_found`, `forbidden` if its sender may no longer send, `conflict` if it is not paused.
 */
export async function resumeCampaign(projectId: string, id: string): Promise<void> {
  const campaign = await getCampaign(projectId, id);
  if (campaign.status !== 'paused') throw new DomainError('conflict', 'This campaign is not paused.');
  // A scheduled campaign that was paused because it could not start is started now.
  if (campaign.startedAt === null) {
    const body = await checkReady(campaign);
    await db.$transaction(async (tx) => {
      if (!(await start(tx, campaign, body))) throw new DomainError('conflict', 'This campaign is no longer paused.');
      await record(tx, projectId, [campaignCommanded('campaign.resumed', campaign)]);
    });
    return;
  }
  await checkSender(campaign);
  await command(projectId, id, {
    from: ['paused'],
    data: { status: 'sending', pauseReason: null, pauseBlocksSender: false, refusalsInRow: 0 },
    signal: 'resume',
    // Resuming acknowledges the reason, so only later reports count towards the limits.
    also: campaign.pauseBlocksSender ? acknowledge : undefined,
  });
}

const acknowledge = (tx: Prisma.TransactionClient, id: string) =>
  tx.$executeRaw`UPDATE campaigns SET base_sent = accepted_count + failed_count,
    base_bounced = bounced_count + failed_count, base_complained = complained_count WHERE id = ${id}`;

/**
 * Acknowledges why a completed campaign blocks its sender. Campaigns from its domain may be sent again, and only later reports
 * count towards the limits.
 * @throws DomainError `not_found`, `conflict` if it is not completed or does not block its sender.
 */
export async function acknowledgeCampaign(projectId: string, id: string): Promise<void> {
  await getCampaign(projectId, id);
  await db.$transaction(async (tx) => {
    const { count } = await tx.campaign.updateMany({
      where: { id, projectId, status: 'completed', pauseBlocksSender: true },
      data: { pauseReason: null, pauseBlocksSender: false },
    });
    if (count === 0)
      throw new DomainError('conflict', 'Only a completed campaign that blocks its sender can be acknowledged.');
    await acknowledge(tx, id);
    await tx.$executeRaw`SELECT pg_notify('postroom', ${`campaign ${id}`})`;
  });
}

const cancellation = (): Command => ({
  from: ['scheduled', 'sending', 'paused'],
  data: { status: 'canceled', completedAt: databaseTime() },
  signal: 'cancel',
});

/** Cancels a campaign; unsent messages are never sent. @throws DomainError `not_found`, `conflict`. */
export async function cancelCampaign(projectId: string, id: string): Promise<void> {
  await command(projectId, id, cancellation());
}

/** Cancels a campaign in the caller's transaction, unless it has ended. */
export const cancelIn = (tx: Prisma.TransactionClient, id: string): Promise<boolean> =>
  commandIn(tx, id, cancellation());

interface Command {
  from: Campaign['status'][];
  data: Partial<Campaign>;
  signal: 'pause' | 'resume' | 'cancel';
  also?: ((tx: Prisma.TransactionClient, id: string) => Promise<unknown>) | undefined;
}

const EVENTS = { pause: 'campaign.paused_manually', resume: 'campaign.resumed', cancel: 'campaign.canceled' } as const;

/** Changes the status, which the send run checks with each page, and signals the workflow. */
async function command(projectId: string, id: string, command: Command): Promise<void> {
  await getCampaign(projectId, id);
  const { signal, from } = command;
  if (!(await db.$transaction((tx) => commandIn(tx, id, command))))
    throw new DomainError('conflict', `Cannot ${signal}: the campaign must be ${from.join(' or ')}.`);
}

/** Records the event of the command. @returns false, having changed nothing, if the campaign is in no status that the command applies to. */
async function commandIn(tx: Prisma.TransactionClient, id: string, command: Command): Promise<boolean> {
  const { from, data, signal, also } = command;
  const { count } = await tx.campaign.updateMany({ where: { id, status: { in: from } }, data });
  if (count === 0) return false;
  await also?.(tx, id);
  const { projectId, name, run, startedAt } = await tx.campaign.findUniqueOrThrow({
    where: { id },
    select: { projectId: true, name: true, run: true, startedAt: true },
  });
  await record(tx, projectId, [campaignCommanded(EVENTS[signal], { id, name })]);
  if (startedAt !== null) await signalWorkflow(tx, { workflowId: workflowIdOf({ id, run }), signal });
  await tx.$executeRaw`SELECT pg_notify('postroom', ${`campaign ${id}`})`;
  return true;
}
