import { Parameters, schemaOf } from '@postroom/contacts';
import { type AudienceCount, audienceSql, countAudience, queryAudience } from '@postroom/groups';
import { isAtFrequencyCap } from '@postroom/ledger/sql';
import { MessageError } from '@postroom/mime';
import { frequencyCapOf, getPolicy } from '@postroom/sending-policy';
import { readTracking } from '@postroom/tracking';
import { signatureWarning } from '@postroom/transports';
import { dayVolume } from '@postroom/domains';
import { databaseTime, type FieldProblem, pool } from '@postroom/platform';
import {
  type Campaign,
  type CampaignContent,
  type CampaignTracking,
  compileCampaign,
  contentOf,
  getCampaign,
  missingParts,
  senderProblemFor,
  statusProblem,
  templatesOf,
} from '@postroom/campaigns';
import { isSendingNow } from '@postroom/campaigns/sql';
import { contentWarnings, isBlankWithoutValues } from '@postroom/content-warnings';

/** A placeholder of the message, and the recipients without a value for it. */
export interface VariableCheck {
  name: string;
  fallback: string | null;
  /** Recipients for whom it would render empty; 0 if there is a default. */
  missing: number;
  /** Addresses of a few of them. */
  examples: string[];
  /** Whether contacts of the project can have a value for it. */
  isField: boolean;
}

/** The review of a campaign before it is sent. */
export interface Preflight {
  isReady: boolean;
  /** Problems that prevent sending. */
  problems: FieldProblem[];
  /** Issues to review before sending. */
  warnings: FieldProblem[];
  audience: AudienceCount;
  variables: VariableCheck[];
  /** What would be tracked: the campaign's setting, or else the project's. */
  tracking: { opens: boolean; clicks: boolean };
  /** Approximate size of one message in bytes; null if it cannot be composed. */
  messageBytes: number | null;
  /** Estimated sending time in seconds; null if the rate is unknown. */
  estimatedSeconds: number | null;
}

/** Placeholders that have a value for each recipient, or whose value is the project's. */
const GIVEN = new Set(['email', 'unsubscribe_url', 'view_in_browser_url', 'postal_address']);

const EXAMPLES = 3;

/** Statuses in which a campaign is no longer editable, so only the status itself is reported as a problem. */
const FINISHED = new Set<Campaign['status']>(['completed', 'canceled']);

/** Runs every check of a send without changing anything. @throws DomainError `not_found`. */
export async function preflight(projectId: string, id: string): Promise<Preflight> {
  const campaign = await getCampaign(projectId, id);
  const { problems: missing, body } = await missingParts(campaign);
  const content = await contentOf({ ...campaign, ...body });
  const sender = campaign.fromEmail ? await senderProblemFor(campaign) : undefined;
  const audience = await countAudience(projectId, campaign);
  const switches = { opens: campaign.trackOpens, clicks: campaign.trackClicks };
  const tracking = await readTracking(projectId, campaign.fromEmail ?? '', switches);
  const compiled = await compile(content, tracking);
  const wrongStatus = statusProblem(campaign);
  const problems = [
    ...(wrongStatus === undefined ? [] : [{ field: 'status', message: wrongStatus }]),
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
      ...(content.postalAddress === null ? [NO_POSTAL_ADDRESS] : []),
      ...(await frequencyCapWarning(campaign)),
      ...(signature === undefined ? [] : [{ field: 'fromEmail', message: signature }]),
    ],
    audience,
    variables,
    tracking,
    messageBytes,
    estimatedSeconds: await estimateSeconds(campaign, audience.recipients),
  };
}

async function frequencyCapWarning(campaign: Campaign): Promise<FieldProblem[]> {
  const cap = frequencyCapOf(await getPolicy(campaign.projectId));
  if (cap === undefined) return [];
  const parameters = new Parameters();
  const project = parameters.add(campaign.projectId);
  const limit = { messages: `${parameters.add(cap.messages)}::int`, days: `${parameters.add(cap.days)}::int` };
  const condition = await audienceSql(campaign.projectId, campaign, parameters);
  const { rows } = await queryAudience<{ contacts: number }>(
    `SELECT count(*)::int AS contacts FROM contacts c
     WHERE c.project_id = ${project} AND NOT c.suppressed AND ${isAtFrequencyCap('c.id', limit)} AND ${condition}`,
    parameters.values,
  );
  const contacts = rows[0]?.contacts ?? 0;
  const days = cap.days === 1 ? 'a day' : `${cap.days} days`;
  const message = `skips ${contacts.toLocaleString('en')} of the recipients now, who have received ${cap.messages} or more messages in ${days}`;
  return contacts === 0 ? [] : [{ field: 'frequencyCap', message }];
}

/** The size of a sample message in bytes, or why it cannot be composed. */
async function compile(content: CampaignContent, tracking: CampaignTracking): Promise<number | FieldProblem> {
  try {
    const id = `eml_${'0'.repeat(26)}`;
    const someone = { id, email: 'someone@example.com', name: 'Someone', customFields: {} };
    // The subject may be empty without values, and then no message can be composed.
    const sample = isBlankWithoutValues(content.subject ?? '') ? { ...content, subject: 'News' } : content;
    return (await compileCampaign(sample, tracking)).render(someone, databaseTime()).data.length;
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    return { field: error.field, message: error.message };
  }
}

const NO_POSTAL_ADDRESS: FieldProblem = {
  field: 'postalAddress',
  message: 'is not set for the project: many countries require one in marketing email',
};

function warningsOf(
  { recipients, contacts }: AudienceCount,
  variables: VariableCheck[],
  content: CampaignContent,
): FieldProblem[] {
  const noRecipients = { field: 'recipients', message: 'are all suppressed or opted out: no one would receive it' };
  return [
    ...(contacts > 0 && recipients === 0 ? [noRecipients] : []),
    ...variables.flatMap(({ name, missing }) =>
      missing > 0
        ? [{ field: name, message: `${lacking(missing)} no value for {{${name}}}, and it has no default` }]
        : [],
    ),
    ...variables.flatMap(({ name, fallback, isField }) =>
      isField || fallback === null
        ? []
        : [
            {
              field: name,
              message: `{{${name}}} is not a custom field, so every recipient gets its default "${fallback}"`,
            },
          ],
    ),
    ...contentWarnings(content),
  ];
}

const lacking = (recipients: number) =>
  recipients === 1 ? '1 recipient has' : `${recipients.toLocaleString('en')} recipients have`;

/**
 * Estimates how long a send would take, in seconds: at the lower of the campaign's rate and its share of the project's, or else
 * at the throughput of the project's last campaign of at least 100 messages, plus the days of a warm-up. Null if unknown.
 */
async function estimateSeconds(campaign: Campaign, recipients: number): Promise<number | null> {
  const { rows } = await pool.query<{ share: number | null; pace: number | null }>(
    `SELECT (SELECT p.rate_per_second::float / (1 + (SELECT count(*) FROM campaigns s
         WHERE s.project_id = $1 AND ${isSendingNow('s')} AND s.id <> $2)) FROM sending_policies p WHERE p.project_id = $1) AS share,
       (SELECT accepted_count / greatest(1, extract(epoch FROM first_completed_at - started_at))::float FROM campaigns
         WHERE project_id = $1 AND first_completed_at IS NOT NULL AND accepted_count >= 100 ORDER BY id DESC LIMIT 1) AS pace`,
    [campaign.projectId, campaign.id],
  );
  const { share = null, pace = null } = rows[0] ?? {};
  const limits = [campaign.ratePerSecond, share].filter((rate) => rate !== null);
  const rate = limits.length > 0 ? Math.min(...limits) : pace;
  const waiting = (await warmupDays(campaign, recipients)) * 86_400;
  return rate === null ? waiting || null : waiting + Math.ceil(recipients / rate);
}

/** How many days the campaign would wait because of its domain's warm-up. */
async function warmupDays({ projectId, fromEmail }: Campaign, recipients: number): Promise<number> {
  const volume = fromEmail === null ? undefined : await dayVolume(projectId, fromEmail);
  if (volume === undefined) return 0;
  let remaining = recipients - (await volume.left());
  let days = 0;
  for (const step of volume.later) {
    if (remaining <= 0) return days;
    remaining -= step;
    days++;
  }
  return remaining <= 0 ? days : days + 1; // no limit after the last step
}

/** Counts, per placeholder, the recipients for whom it would render empty. */
async function checkVariables(campaign: Campaign, content: CampaignContent): Promise<VariableCheck[]> {
  const fallbacks = new Map<string, string | null>();
  const { subject, html, text } = templatesOf(content);
  for (const template of [subject, html, text]) {
    for (const slot of template?.slots ?? []) {
      // What a condition guards may be empty, so only what every recipient sees is checked.
      if (slot.kind !== 'variable' || slot.isOptional === true || GIVEN.has(slot.name)) continue;
      const { name, fallback } = slot;
      // A single use without a default is enough to render empty.
      const hasNoDefault = fallbacks.get(name) === null && fallbacks.has(name);
      fallbacks.set(name, hasNoDefault ? null : (fallback ?? null));
    }
  }
  const schema = await schemaOf(campaign.projectId);
  return Promise.all(
    [...fallbacks].map(async ([name, fallback]) => ({
      name,
      fallback,
      isField: name === 'name' || schema.has(name),
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
