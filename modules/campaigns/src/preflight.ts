import { Parameters } from '@postroom/contacts';
import { MessageError, signatureWarning } from '@postroom/emails';
import type { FieldProblem } from '@postroom/platform';
import { type AudienceCount, audienceSql, countAudience, queryAudience } from './audience.ts';
import { type Campaign, getCampaign } from './campaigns.ts';
import { type CampaignContent, compileCampaign, templatesOf } from './content.ts';
import { incompleteness, senderTrouble } from './sending.ts';

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
  /** Bytes of one message, about. */
  messageBytes: number | null;
  /** At the campaign's rate; null when it has none. */
  estimatedSeconds: number | null;
}

/** Clients cut off what is longer. */
const CLIPPED_BYTES = 102_400;
const EXAMPLES = 3;

/** Looks at everything that a send would, and changes nothing. @throws DomainError `not_found`. */
export async function preflight(projectId: string, id: string): Promise<Preflight> {
  const campaign = await getCampaign(projectId, id);
  const { problems: missing, body } = await incompleteness(campaign);
  const content: CampaignContent = { ...campaign, ...body };
  const sender = campaign.fromEmail ? await senderTrouble(campaign) : undefined;
  const audience = await countAudience(projectId, campaign);
  const compiled = compile(content);
  const problems = [
    ...missing,
    ...(sender === undefined ? [] : [{ field: 'fromEmail', message: sender }]),
    ...(typeof compiled === 'number' || missing.length > 0 ? [] : [compiled]),
  ];
  const variables = await checkVariables(campaign, content);
  const messageBytes = typeof compiled === 'number' ? compiled : null;
  const signature = campaign.fromEmail ? await signatureWarning(projectId, campaign.fromEmail) : undefined;
  return {
    isReady: problems.length === 0,
    problems,
    warnings: [
      ...warningsOf(audience, variables, content, messageBytes),
      ...(signature === undefined ? [] : [{ field: 'fromEmail', message: signature }]),
    ],
    audience,
    variables,
    messageBytes,
    estimatedSeconds: campaign.ratePerSecond === null ? null : Math.ceil(audience.recipients / campaign.ratePerSecond),
  };
}

/** The size of a message, or why it can't be made. */
function compile(content: CampaignContent): number | FieldProblem {
  try {
    const someone = {
      id: 'eml_00000000000000000000000000',
      email: 'someone@example.com',
      name: 'Someone',
      customFields: {},
    };
    return compileCampaign(content).render(someone, new Date()).data.length;
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    return { field: error.field, message: error.message };
  }
}

function warningsOf(
  { recipients, contacts }: AudienceCount,
  variables: VariableCheck[],
  { subject, html }: CampaignContent,
  messageBytes: number | null,
): FieldProblem[] {
  const warn = (when: boolean, field: string, message: string) => (when ? [{ field, message }] : []);
  return [
    ...warn(contacts > 0 && recipients === 0, 'recipients', 'all are suppressed: nobody would get it'),
    ...variables.flatMap(({ name, missing }) =>
      warn(missing > 0, name, `${missing} recipients have no value for {{${name}}}, and it has no default`),
    ),
    ...warn((messageBytes ?? 0) > CLIPPED_BYTES, 'html', 'the message is over 100 KB: some programs will cut it off'),
    ...warn((subject ?? '').length > 78, 'subject', 'is over 78 characters: most programs will cut it off'),
    ...warn(
      /[A-Z]/.test(subject ?? '') && (subject ?? '') === (subject ?? '').toUpperCase() && (subject ?? '').length > 10,
      'subject',
      'is all in capitals, which looks like spam',
    ),
    ...warn(/<img\b(?![^>]*\balt=)/i.test(html ?? ''), 'html', 'has images without an alt text'),
    ...linkProblems(html ?? '').map((message) => ({ field: 'html', message })),
  ];
}

/** Links that lead nowhere, by their form. */
function linkProblems(html: string): string[] {
  const links = [...html.matchAll(/\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)].map((match) =>
    (match[1] ?? match[2] ?? '').trim(),
  );
  const bad = links.filter(
    (link) => !link.includes('{{') && !/^(mailto:|tel:|sms:|#.|cid:)/i.test(link) && !isWebAddress(link),
  );
  return [...new Set(bad)].slice(0, 10).map((link) => `the link "${link.slice(0, 100)}" is not a web address`);
}

function isWebAddress(link: string): boolean {
  return /^https?:\/\/[^/\s]+\.[^/\s]+/i.test(link) && URL.canParse(link);
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
