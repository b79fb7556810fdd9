import { MessageError } from '@postroom/mime';
import { parseTemplate } from '@postroom/templates/render';
import { scheduleProblem } from '@postroom/emails';
import { sendingProblem } from '@postroom/transports';
import {
  db,
  DomainError,
  type FieldProblem,
  invalid,
  pool,
  type Prisma,
  signalWorkflow,
  startWorkflow,
} from '@postroom/platform';
import { audienceProblems, hasRecipients } from './audience.ts';
import { type Campaign, getCampaign } from './campaigns.ts';
import { compileCampaign } from './content.ts';
import { autoPause, senderBlock } from './send-monitor.ts';
import { startSending, summaryOf, workflowIdOf } from './workflow.ts';

/**
 * Starts a campaign now, from draft or scheduled (spec: Campaigns, Send errors). Its recipients are frozen by its workflow.
 * @throws DomainError in this order: `not_found`; `conflict` in any other status, whatever else is wrong with it;
 * `validation_error` naming everything that is missing; `forbidden` for a sender whose domain is not verified any more, or
 * is blocked by an automatic pause.
 */
export async function sendCampaign(projectId: string, id: string): Promise<void> {
  for (;;) {
    const campaign = await getCampaign(projectId, id);
    const problem = statusProblem(campaign);
    if (problem !== undefined) throw new DomainError('conflict', problem);
    const body = await checkReady(campaign);
    if (await start(campaign, body)) return;
    // It was edited, or somebody else started it, since it was read: look again.
  }
}

/** Why a campaign in its status can't be sent; undefined for a draft or scheduled one. */
export function statusProblem({ status, pauseReason, startedAt }: Campaign): string | undefined {
  switch (status) {
    case 'draft':
    case 'scheduled':
      return undefined;
    case 'sending':
      return 'This campaign is being sent already.';
    case 'paused':
      return `This campaign is paused${pauseReason === null ? '' : ` (${pauseReason})`}: resume it${startedAt === null ? ', which sends it' : ''}.`;
    case 'completed':
      return 'This campaign is finished: it has been sent to all its recipients, and can not be sent a second time.';
    case 'canceled':
      return 'This campaign is finished: it was canceled, and can not be sent any more.';
  }
}

/** What a campaign's template says at the start, and which version of it that is; empty when it has a body of its own. */
interface Body {
  html?: string;
  format?: Campaign['format'];
  source?: string | null;
  subject?: string;
  templateVersion?: number;
}

/** Starts it if it is as it was read; the condition of the UPDATE decides between several who try at once. */
async function start(campaign: Campaign, body: Body): Promise<boolean> {
  const { id, status, updatedAt } = campaign;
  return db.$transaction(async (tx) => {
    const now = new Date();
    const { count } = await tx.campaign.updateMany({
      where: { id, status, updatedAt },
      data: { ...body, status: 'sending', startedAt: now, pauseReason: null, pauseBlocksSender: false },
    });
    if (count === 0) return false;
    // What the project says of tracking counts as of now, as all else that goes out.
    await tx.$executeRaw`UPDATE campaigns c SET track_opens = coalesce(c.track_opens, p.track_opens),
      track_clicks = coalesce(c.track_clicks, p.track_clicks) FROM projects p WHERE c.id = ${id} AND p.id = c.project_id`;
    await startSending(tx, campaign);
    return true;
  });
}

/**
 * Whether a campaign could go out now; returns what its template says.
 * @throws DomainError `validation_error` naming each thing that is missing, then `forbidden` for a sender that may not send.
 */
async function checkReady(campaign: Campaign): Promise<Body> {
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

/** @throws DomainError `validation_error` when no message can be made of a campaign. */
async function checkMessage(campaign: Campaign): Promise<void> {
  try {
    await compileCampaign(campaign);
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    throw invalid({ field: error.field, message: error.message });
  }
}

/** @throws DomainError `forbidden` for a sender that may not send: not verified, blocked, or stopped by auto-pause. */
export async function checkSender(campaign: Campaign): Promise<void> {
  const problem = await senderProblemFor(campaign);
  if (problem !== undefined) throw new DomainError('forbidden', problem);
}

/** Why a campaign's sender may not send now; undefined when it may. */
export async function senderProblemFor(campaign: Campaign): Promise<string | undefined> {
  const { projectId, fromEmail } = campaign;
  return (await sendingProblem(projectId, fromEmail ?? '')) ?? (await senderBlock(campaign));
}

/** Everything that a campaign lacks, and the body that its template gives it. */
export async function missingParts(campaign: Campaign): Promise<{ problems: FieldProblem[]; body: Body }> {
  const { projectId } = campaign;
  const { problems: bodyProblems, body } = await templateBody(campaign);
  const subject = campaign.subject ?? body.subject ?? '';
  const html = body.html ?? campaign.html ?? '';
  const groupProblems = await audienceProblems(pool, projectId, campaign);
  const problems = [
    ...(subject.trim() === '' ? [{ field: 'subject', message: 'is required' }] : []),
    ...(campaign.fromEmail === null || campaign.fromEmail === ''
      ? [{ field: 'fromEmail', message: 'is required' }]
      : []),
    ...(html.trim() === '' && bodyProblems.length === 0
      ? [{ field: 'html', message: 'is required, or a template_id' }]
      : []),
    ...bodyProblems,
    ...groupProblems,
    ...(groupProblems.length === 0 && !(await hasRecipients(projectId, campaign))
      ? [{ field: 'recipients', message: 'must be at least one contact, in group_ids or segment_ids' }]
      : []),
  ];
  return { problems, body };
}

async function templateBody({
  projectId,
  templateId,
  subject,
}: Campaign): Promise<{ problems: FieldProblem[]; body: Body }> {
  if (templateId === null) return { problems: [], body: {} };
  const template = await db.template.findFirst({ where: { id: templateId, projectId } });
  const problem = (message: string) => ({ problems: [{ field: 'templateId', message }], body: {} });
  if (template === null) return problem('is not a template of this project any more');
  if (template.status !== 'published') return problem('is not published');
  const [flaw] = parseTemplate(template.body, 'html').problems;
  if (flaw !== undefined) return problem(`its body, line ${flaw.line}, column ${flaw.column}: ${flaw.message}`);
  return {
    problems: [],
    body: {
      html: template.body,
      format: template.format,
      source: template.source,
      templateVersion: template.version,
      ...(subject === null && template.subject !== null ? { subject: template.subject } : {}),
    },
  };
}

/**
 * Schedules or reschedules a campaign: a durable timer starts it. It is checked now as if it were sent now.
 * @throws DomainError as `sendCampaign`, and `validation_error` for a time that is past.
 */
export async function scheduleCampaign(projectId: string, id: string, scheduledAt: Date): Promise<void> {
  const campaign = await getCampaign(projectId, id);
  if (campaign.status !== 'draft' && campaign.status !== 'scheduled') throw notSchedulable();
  const problem = scheduleProblem(scheduledAt);
  if (problem !== undefined) throw invalid({ field: 'scheduledAt', message: problem });
  await checkReady(campaign);
  await db.$transaction(async (tx) => {
    const { count } = await tx.campaign.updateMany({
      where: { id, projectId, status: { in: ['draft', 'scheduled'] } },
      data: { status: 'scheduled', scheduledAt },
    });
    if (count === 0) throw notSchedulable();
    // Each time has a timer of its own; one whose campaign has been moved to another time does nothing.
    await startWorkflow(tx, {
      workflowId: `${id}@${scheduledAt.toISOString()}`,
      type: 'scheduleCampaign',
      args: [id, scheduledAt.toISOString()],
      summary: summaryOf(campaign.name),
      searchAttributes: { projectId, campaignId: id },
    });
  });
}

const notSchedulable = () => new DomainError('conflict', 'Only a draft or scheduled campaign can be scheduled.');

/** Makes a scheduled campaign a draft again. @throws DomainError `not_found`, `conflict` when it is not scheduled. */
export async function unscheduleCampaign(projectId: string, id: string): Promise<void> {
  await getCampaign(projectId, id);
  const { count } = await db.campaign.updateMany({
    where: { id, projectId, status: 'scheduled' },
    data: { status: 'draft', scheduledAt: null },
  });
  if (count === 0) throw new DomainError('conflict', 'This campaign is not scheduled.');
}

/** Starts a campaign whose time has come, unless it has another by now. What keeps it from starting pauses it. */
export async function startScheduled(id: string, scheduledAt: Date): Promise<'started' | 'moved' | 'paused'> {
  const campaign = await db.campaign.findFirst({ where: { id, status: 'scheduled', scheduledAt } });
  if (campaign === null) return 'moved';
  try {
    await sendCampaign(campaign.projectId, id);
    return 'started';
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'conflict' || error.code === 'not_found') return 'moved';
    await autoPause(id, `It could not start at its time. ${error.message}`, { from: 'scheduled' });
    return 'paused';
  }
}

/** Pauses a campaign that is being sent; what is in hand goes out. @throws DomainError `not_found`, `conflict`. */
export async function pauseCampaign(projectId: string, id: string): Promise<void> {
  await command(projectId, id, { from: ['sending'], data: { status: 'paused', pauseReason: null }, signal: 'pause' });
}

/**
 * Resumes a paused campaign. One that was paused because of how its mail was received is watched from zero on.
 * @throws DomainError `not_found`, `forbidden` when its sender may not send any more, `conflict` when it is not paused.
 */
export async function resumeCampaign(projectId: string, id: string): Promise<void> {
  const campaign = await getCampaign(projectId, id);
  if (campaign.status !== 'paused') throw new DomainError('conflict', 'This campaign is not paused.');
  // One that was paused before it started, because it could not, starts now.
  if (campaign.startedAt === null) {
    const body = await checkReady(campaign);
    if (!(await start(campaign, body))) throw new DomainError('conflict', 'This campaign is not paused any more.');
    return;
  }
  await checkSender(campaign);
  await command(projectId, id, {
    from: ['paused'],
    data: { status: 'sending', pauseReason: null, pauseBlocksSender: false, refusalsInRow: 0 },
    signal: 'resume',
    // Who resumes it has seen why it was paused; only what comes now counts towards the next time.
    also: campaign.pauseBlocksSender ? acknowledge : undefined,
  });
}

const acknowledge = (tx: Prisma.TransactionClient, id: string) =>
  tx.$executeRaw`UPDATE campaigns SET base_sent = accepted_count + failed_count,
    base_bounced = bounced_count + failed_count, base_complained = complained_count WHERE id = ${id}`;

/**
 * Says that a person has seen why a completed campaign blocks its sender: campaigns from its domain may be sent again, and
 * only what is reported from here on counts towards the next time.
 * @throws DomainError `not_found`, `conflict` when it is not completed or blocks nobody.
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

/** Ends a campaign; what has not gone out never will. @throws DomainError `not_found`, `conflict`. */
export async function cancelCampaign(projectId: string, id: string): Promise<void> {
  await command(projectId, id, {
    from: ['scheduled', 'sending', 'paused'],
    data: { status: 'canceled', completedAt: new Date() },
    signal: 'cancel',
  });
}

interface Command {
  from: Campaign['status'][];
  data: Partial<Campaign>;
  signal: 'pause' | 'resume' | 'cancel';
  also?: ((tx: Prisma.TransactionClient, id: string) => Promise<unknown>) | undefined;
}

/** Changes the status, which the sender looks at with each page, and wakes its workflow. */
async function command(projectId: string, id: string, { from, data, signal, also }: Command): Promise<void> {
  await getCampaign(projectId, id);
  await db.$transaction(async (tx) => {
    const { count } = await tx.campaign.updateMany({ where: { id, projectId, status: { in: from } }, data });
    if (count === 0)
      throw new DomainError('conflict', `Only a campaign that is ${from.join(' or ')} can take this: ${signal}.`);
    await also?.(tx, id);
    const { run } = await tx.campaign.findUniqueOrThrow({ where: { id }, select: { run: true } });
    await signalWorkflow(tx, { workflowId: workflowIdOf({ id, run }), signal });
    await tx.$executeRaw`SELECT pg_notify('postroom', ${`campaign ${id}`})`;
  });
}
