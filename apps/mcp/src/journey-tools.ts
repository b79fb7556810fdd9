import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { Postroom } from '../../../sdk/typescript/src/index.ts';
import { answer, page, paging, READS, SENDS } from './answers.ts';

const journeyId = z.string().regex(/^jrn_/).describe('Journey id, jrn_….');
const backtestId = z.string().regex(/^bkt_/).describe('Backtest id, bkt_….');
const definition = z
  .record(z.string(), z.unknown())
  .describe('entry, steps and rules, as get_journey returns them and docs/reference/journeys.md describes them.');

/** Tools for journeys. What sends mail is marked as destructive, so that assistants ask for confirmation. */
export function registerJourneyTools(server: McpServer, postroom: Postroom): void {
  server.registerTool(
    'list_journeys',
    {
      title: 'List journeys',
      description:
        'Journeys with their status and definition, and why one paused itself. Archived ones only on request.',
      inputSchema: z.strictObject({
        status: z.enum(['draft', 'active', 'paused', 'archived']).optional().describe('Only journeys in this status.'),
        ...paging,
      }),
      annotations: READS,
    },
    (query) => answer(async () => page(await postroom.journeys.list(query))),
  );
  server.registerTool(
    'get_journey',
    {
      title: 'Get a journey',
      description:
        'A journey with the problems that keep its draft from being published, its runs by outcome, and how many contacts are at each step.',
      inputSchema: z.strictObject({ journey_id: journeyId }),
      annotations: READS,
    },
    ({ journey_id }) => answer(() => postroom.journeys.get(journey_id)),
  );
  server.registerTool(
    'list_journey_versions',
    {
      title: 'List the published versions of a journey',
      description:
        'The definitions that contacts entered and enter, the newest first, with when and by whom they were published.',
      inputSchema: z.strictObject({
        journey_id: journeyId,
        number: z.number().int().optional().describe('Only this version.'),
        ...paging,
      }),
      annotations: READS,
    },
    ({ journey_id, ...query }) => answer(async () => page(await postroom.journeys.versions(journey_id, query))),
  );
  server.registerTool(
    'journey_preflight',
    {
      title: 'Check a journey before publishing',
      description:
        'Shows what publishing the draft now would do: whether it is ready, what is wrong with it, how many contacts are in progress at each step, and whether they have a matching step in the draft. Changes nothing.',
      inputSchema: z.strictObject({ journey_id: journeyId }),
      annotations: READS,
    },
    ({ journey_id }) => answer(() => preflight(postroom, journey_id)),
  );
  server.registerTool(
    'create_journey',
    {
      title: 'Create a journey',
      description: 'Saves a new journey as a draft, which may be incomplete. Nobody enters it until it is published.',
      inputSchema: z.strictObject({
        name: z.string().describe('A name that no other journey has.'),
        definition: definition.optional(),
      }),
      annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    (body) => answer(() => postroom.journeys.create(body as never)),
  );
  server.registerTool(
    'update_journey',
    {
      title: 'Change the draft of a journey',
      description:
        'Replaces the name or the definition of the draft. Contacts in the journey are not affected until it is published.',
      inputSchema: z.strictObject({
        journey_id: journeyId,
        name: z.string().optional().describe('The new name.'),
        definition: definition.optional(),
        version: z
          .number()
          .int()
          .optional()
          .describe('The version that was read: if it has changed since, the call fails.'),
      }),
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ journey_id, ...body }) => answer(() => postroom.journeys.update(journey_id, body as never)),
  );
  server.registerTool(
    'publish_journey',
    {
      title: 'Publish a journey',
      description:
        'Publishes the draft and starts the journey, so contacts may get mail: run journey_preflight first, show the user its result and ask them to confirm.',
      inputSchema: z.strictObject({
        journey_id: journeyId,
        in_progress: z
          .enum(['finish', 'move', 'exit'])
          .default('finish')
          .describe('What contacts on earlier versions do: finish theirs, move to the matching step, or leave.'),
        version: z
          .number()
          .int()
          .optional()
          .describe('The version that journey_preflight showed: if the draft has changed since, the call fails.'),
      }),
      annotations: SENDS,
    },
    ({ journey_id, ...body }) => answer(() => postroom.journeys.publish(journey_id, body)),
  );
  server.registerTool(
    'pause_journey',
    {
      title: 'Pause a journey',
      description: 'Pauses a journey for all contacts: nothing is sent and nobody moves until it is resumed.',
      inputSchema: z.strictObject({ journey_id: journeyId }),
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ journey_id }) => answer(() => postroom.journeys.pause(journey_id)),
  );
  server.registerTool(
    'resume_journey',
    {
      title: 'Resume a journey',
      description:
        'Resumes a paused journey. Steps that fell due in the meantime are carried out now, mail included. get_journey returns as waitingEvents how many events waited for it.',
      inputSchema: z.strictObject({
        journey_id: journeyId,
        waiting: z
          .enum(['process', 'discard'])
          .default('process')
          .describe(
            'Whether events that came while it was paused are processed: contacts enter, waits end, goals are reached.',
          ),
      }),
      annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ journey_id, ...body }) => answer(() => postroom.journeys.resume(journey_id, body)),
  );
  server.registerTool(
    'enroll_contacts',
    {
      title: 'Let contacts enter a journey',
      description: 'Lets up to 1,000 contacts enter an active journey, who may get mail. Shows the outcome of each.',
      inputSchema: z.strictObject({
        journey_id: journeyId,
        emails: z.array(z.string()).min(1).max(1000).describe('Addresses of contacts of the project.'),
        properties: z
          .record(z.string(), z.unknown())
          .optional()
          .describe('What an event would have, for conditions and templates.'),
      }),
      annotations: SENDS,
    },
    ({ journey_id, ...body }) => answer(() => postroom.journeys.enroll(journey_id, body as never)),
  );
  server.registerTool(
    'list_enrollments',
    {
      title: 'List the runs of a journey',
      description: 'The runs of contacts through a journey, step by step: when each step was left, and what it did.',
      inputSchema: z.strictObject({
        journey_id: journeyId,
        contact_id: z.string().optional().describe('Only those of this contact, ctc_….'),
        step_id: z.string().optional().describe('Only those at this step.'),
        status: z.enum(['active', 'paused', 'completed', 'exited']).optional().describe('Only those in this status.'),
        ...paging,
      }),
      annotations: READS,
    },
    ({ journey_id, ...query }) =>
      answer(async () => page(await postroom.journeys.enrollments(journey_id, query as never))),
  );
  server.registerTool(
    'start_backtest',
    {
      title: 'Test a journey against the past',
      description:
        'Simulates the draft of a journey, or a definition, with the real events and contacts of the last days, compared with a published version if given. Sends nothing. Read the result with get_backtest, and say which of its notes matter.',
      inputSchema: z.strictObject({
        journey_id: journeyId.optional(),
        days: z.number().int().min(1).max(90).describe('How many days back.'),
        definition: definition.optional().describe('What is tested; the draft of the journey if omitted.'),
        compare_with_version: z.number().int().optional().describe('The published version to compare with.'),
        opened_percent: z.number().min(0).max(100).optional().describe('How many messages are assumed to be opened.'),
        clicked_percent: z.number().min(0).max(100).optional().describe('How many messages are assumed to be clicked.'),
        segment_id: z.string().optional().describe('A segment whose contacts enter at the beginning, seg_….'),
      }),
      annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    ({ definition: candidate, compare_with_version: version, opened_percent, clicked_percent, ...rest }) =>
      answer(() =>
        postroom.backtests.start({
          ...rest,
          ...(candidate === undefined ? {} : { candidate: { definition: candidate } }),
          ...(version === undefined ? {} : { baseline: { version } }),
          assume: { opened: opened_percent, clicked: clicked_percent },
        } as never),
      ),
  );
  server.registerTool(
    'get_backtest',
    {
      title: 'Get the result of a backtest',
      description:
        'What a journey would have done: contacts, messages by step and day, conversions, where contacts would be, how it differs from the baseline, and what the result depends on. It is final unless the status is running.',
      inputSchema: z.strictObject({ backtest_id: backtestId }),
      annotations: READS,
    },
    ({ backtest_id }) => answer(() => postroom.backtests.get(backtest_id)),
  );
  server.registerTool(
    'list_backtest_contacts',
    {
      title: 'List the contacts of a backtest',
      description: 'Who would have received what and when: the simulated steps of contacts.',
      inputSchema: z.strictObject({
        backtest_id: backtestId,
        step_id: z.string().optional().describe('Only those that reached this step.'),
        outcome: z.string().optional().describe('Only those that left the step with this outcome, or waiting.'),
        difference: z
          .enum(['none', 'candidate_only', 'baseline_only', 'times', 'messages'])
          .optional()
          .describe('Only those whose messages differ from the baseline in this way.'),
        search: z.string().optional().describe('Part of the address or name.'),
        ...paging,
      }),
      annotations: READS,
    },
    ({ backtest_id, ...query }) =>
      answer(async () => page(await postroom.backtests.contacts(backtest_id, query as never))),
  );
}

async function preflight(postroom: Postroom, journeyId: string): Promise<object> {
  const journey = await postroom.journeys.get(journeyId);
  const { id, name, status, version, publishedVersion, problems, inProgress } = journey;
  const contactCount = (rows: typeof inProgress) => rows.reduce((sum, row) => sum + row.contactCount, 0);
  return {
    id,
    name,
    status,
    version,
    publishedVersion,
    isReady: problems.length === 0 && status !== 'archived',
    problems,
    contactsInProgress: contactCount(inProgress),
    contactsWithMatchingStep: contactCount(inProgress.filter(({ hasMatch }) => hasMatch)),
    inProgress,
  };
}
