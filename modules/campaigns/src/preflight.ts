import { Parameters } from '@postroom/contacts';
import { MessageError } from '@postroom/mime';
import { readTracking } from '@postroom/tracking';
import { signatureWarning } from '@postroom/transports';
import { dayVolume } from '@postroom/domains';
import { type FieldProblem, pool } from '@postroom/platform';
import { type AudienceCount, audienceSql, countAudience, queryAudience } from './audience.ts';
import { type Campaign, getCampaign } from './campaigns.ts';
import { type CampaignContent, type CampaignTracking, compileCampaign, templatesOf } from './content.ts';
import { contentWarnings } from './content-warnings.ts';
import { missingParts, senderProblemFor, statusProblem } from './sending.ts';

/** A placeholder of the message, and how many recipients have no value for it. */
export interface VariableCheck {
  name: string;
  fallback: string | null;
  /** Recipients for whom nothing would be shown; 0 when there is a default. */
  missing: number;
  /** Addresses of a few of them. */
  examples: string[];
}

/** What would happen if the campaign were sent now. */
export interface Preflight {
  isReady: boolean;
  /** What keeps it from being sent. */
  problems: FieldProblem[];
  /** What should be looked at first. */
  warnings: FieldProblem[];
  audience: AudienceCount;
  variables: VariableCheck[];
  /** What would be tracked: as the campaign says, or else its project. */
  tracking: { opens: boolean; clicks: boolean };
  /** Bytes of one message, about. */
  messageBytes: number | null;
  /** At its rate now; null when nothing says how fast it goes. */
  estimatedSeconds: number | null;
}

const EXAMPLES = 3;

/** What would have to be changed first is of no use to a campaign that can't be changed any more. */
const FINISHED = new Set<Campaign['status']>(['completed', 'canceled']);

/** Looks at everything that a send would, and changes nothing. @throws DomainError `not_found`. */
export async function preflight(projectId: string, id: string): Promise<Preflight> {
  const campaign = await getCampaign(projectId, id);
  const { problems: missing, body } = await missingParts(campaign);
  const content: CampaignContent = { ...campaign, ...body };
  const sender = campaign.fromEmail ? await senderProblemFor(campaign) : undefined;
  const audience = await countAudience(projectId, campaign);
  const switches = { opens: campaign.trackOpens, clicks: campaign.trackClicks };
  const tracking = await readTracking(projectId, campaign.fromEmail ?? '', switches);
  const compiled = await compile(content, tracking);
  const inStatus = statusProblem(campaign);
  const problems = [
    ...(inStatus === undefined ? [] : [{ field: 'status', message: inStatus }]),
    ...missing,
    ...(sender === undefined ? [] : [{ field: 'fromEmail', message: sender }]),
    ...(typeof compiled === 'number' || missing.length > 0 ? [] : [compiled]),
  ].filter(({ field }) => !FINISHED.has(campaign.status) || field === 'status');
  const variables = await checkVariables(campaign, content);
  const messageBytes = typeof compiled === 'number' ? compiled : null;
  const signature = campaign.fromEmail ? await signatureWarning(projectId, campaign.fromEmail) : undefined;
  return {
    isReady: problems.length === 0,
    problems,
    warnings: [
      ...warningsOf(audience, variables, content),
      ...(signature === undefined ? [] : [{ field: 'fromEmail', message: signature }]),
    ],
    audience,
    variables,
    tracking,
    messageBytes,
    estimatedSeconds: await estimateSeconds(campaign, audience.recipients),
  };
}

/** The size of a message, or why it can't be made. */
async function compile(content: CampaignContent, tracking: CampaignTracking): Promise<number | FieldProblem> {
  try {
    const someone = {
      id: 'eml_00000000000000000000000000',
      email: 'someone@example.com',
      name: 'Someone',
      customFields: {},
    };
    return (await compileCampaign(content, tracking)).render(someone, new Date()).data.length;
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    return { field: error.field, message: error.message };
  }
}

function warningsOf(
  { recipients, contacts }: AudienceCount,
  variables: VariableCheck[],
  content: CampaignContent,
): FieldProblem[] {
  const nobody = { field: 'recipients', message: 'all are suppressed or have left: nobody would get it' };
  return [
    ...(contacts > 0 && recipients === 0 ? [nobody] : []),
    ...variables.flatMap(({ name, missing }) =>
      missing > 0
        ? [{ field: name, message: `${missing} recipients have no value for {{${name}}}, and it has no default` }]
        : [],
    ),
    ...contentWarnings(content),
  ];
}

/**
 * How long a send would take: at the campaign's rate, or its part of the project's, or as fast as the project's last
 * campaign of some size went, and with the days of its domain's warm-up. Null when nothing says it.
 */
async function estimateSeconds(campaign: Campaign, recipients: number): Promise<number | null> {
  const { rows } = await pool.query<{ share: number | null; pace: number | null }>(
    `SELECT (SELECT p.rate_per_second::float / (1 + (SELECT count(*) FROM campaigns s
         WHERE s.project_id = $1 AND s.status = 'sending' AND s.id <> $2)) FROM sending_policies p WHERE p.project_id = $1) AS share,
       (SELECT accepted_count / greatest(1, extract(epoch FROM first_completed_at - started_at))::float FROM campaigns
         WHERE project_id = $1 AND first_completed_at IS NOT NULL AND accepted_count >= 100 ORDER BY id DESC LIMIT 1) AS pace`,
    [campaign.projectId, campaign.id],
  );
  const { share = null, pace = null } = rows[0] ?? {};
  const limits = [campaign.ratePerSecond, share].filter((rate) => rate !== null);
  const rate = limits.length > 0 ? Math.min(...limits) : pace;
  const waiting = (await daysOfWarmup(campaign, recipients)) * 86_400;
  return rate === null ? waiting || null : waiting + Math.ceil(recipients / rate);
}

/** How many times it would wait for the next day. */
async function daysOfWarmup({ projectId, fromEmail }: Campaign, recipients: number): Promise<number> {
  const volume = fromEmail === null ? undefined : await dayVolume(projectId, fromEmail);
  if (volume === undefined) return 0;
  let left = recipients - (await volume.left());
  let days = 0;
  for (const step of volume.later) {
    if (left <= 0) return days;
    left -= step;
    days++;
  }
  return left <= 0 ? days : days + 1; // after the last step there is no limit
}

/** For each placeholder, how many recipients have nothing to show in its place. */
async function checkVariables(campaign: Campaign, content: CampaignContent): Promise<VariableCheck[]> {
  const fallbacks = new Map<string, string | null>();
  for (const template of templatesOf(content)) {
    for (const { name, fallback } of template?.variables ?? []) {
      if (name === 'email' || name === 'unsubscribe_url') continue;
      // One place without a default is enough to show nothing.
      const isBare = fallbacks.get(name) === null && fallbacks.has(name);
      fallbacks.set(name, isBare ? null : (fallback ?? null));
    }
  }
  return Promise.all(
    [...fallbacks].map(async ([name, fallback]) => ({
      name,
      fallback,
      ...(fallback === null ? await countMissing(campaign, name) : { missing: 0, examples: [] }),
    })),
  );
}

async function countMissing(campaign: Campaign, name: string): Promise<{ missing: number; examples: string[] }> {
  const parameters = new Parameters();
  const project = parameters.add(campaign.projectId);
  const value = name === 'name' ? 'c.name' : `c.custom_fields->>${parameters.add(name)}`;
  const condition = await audienceSql(campaign.projectId, campaign, parameters);
  const { rows } = await queryAudience<{ missing: number; examples: string[] | null }>(
    `SELECT count(*)::int AS missing, (array_agg(c.email ORDER BY c.id))[1:${EXAMPLES}] AS examples
     FROM contacts c WHERE c.project_id = ${project} AND NOT c.suppressed AND coalesce(trim(${value}), '') = '' AND ${condition}`,
    parameters.values,
  );
  return { missing: rows[0]?.missing ?? 0, examples: rows[0]?.examples ?? [] };
}
