import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { Postroom } from '../../../sdk/typescript/src/index.ts';
import { answer, limit, page, READS } from './answers.ts';

const journeyId = z.string().regex(/^jrn_/).describe('Journey id, jrn_….');
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
      inputSchema: {
        status: z.enum(['draft', 'active', 'paused', 'archived']).optional().describe('Only journeys in this status.'),
        limit,
      },
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
      inputSchema: { journey_id: journeyId },
      annotations: READS,
    },
    ({ journey_id }) => answer(() => postroom.journeys.get(journey_id)),
  );
  server.registerTool(
    'journey_preflight',
    {
      title: 'Check a journey before publishing',
      description:
        'Shows what publishing the draft now would do: whether it is ready, what is wrong with it, how many contacts are in progress at each step, and whether they have a matching step in the draft. Changes nothing.',
      inputSchema: { journey_id: journeyId },
      annotations: READS,
    },
    ({ journey_id }) => answer(() => preflight(postroom, journey_id)),
  );
  server.registerTool(
    'create_journey',
    {
      title: 'Create a journey',
      description: 'Saves a new journey as a draft, which may be incomplete. Nobody enters it until it is published.',
      inputSchema: {
        name: z.string().describe('A name that no other journey has.'),
        definition: definition.optional(),
      },
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
      inputSchema: {
        journey_id: journeyId,
        name: z.string().optional().describe('The new name.'),
        definition: definition.optional(),
        version: z
          .number()
          .int()
          .optional()
          .describe('The version that was read: if it has changed since, the call fails.'),
      },
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
      inputSchema: {
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
      },
      annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    ({ journey_id, ...body }) => answer(() => postroom.journeys.publish(journey_id, body)),
  );
  server.registerTool(
    'pause_journey',
    {
      title: 'Pause a journey',
      description: 'Pauses a journey for all contacts: nothing is sent and nobody moves until it is resumed.',
      inputSchema: { journey_id: journeyId },
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ journey_id }) => answer(() => postroom.journeys.pause(journey_id)),
  );
  server.registerTool(
    'resume_journey',
    {
      title: 'Resume a journey',
      description: 'Resumes a paused journey. Steps that fell due in the meantime are carried out now, mail included.',
      inputSchema: { journey_id: journeyId },
      annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ journey_id }) => answer(() => postroom.journeys.resume(journey_id)),
  );
  server.registerTool(
    'enroll_contacts',
    {
      title: 'Let contacts enter a journey',
      description: 'Lets up to 1,000 contacts enter an active journey, who may get mail. Shows the outcome of each.',
      inputSchema: {
        journey_id: journeyId,
        emails: z.array(z.string()).min(1).max(1000).describe('Addresses of contacts of the project.'),
        properties: z
          .record(z.string(), z.unknown())
          .optional()
          .describe('What an event would have, for conditions and templates.'),
      },
      annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    ({ journey_id, ...body }) => answer(() => postroom.journeys.enroll(journey_id, body as never)),
  );
  server.registerTool(
    'list_enrollments',
    {
      title: 'List the runs of a journey',
      description: 'The runs of contacts through a journey, step by step: when each step was left, and what it did.',
      inputSchema: {
        journey_id: journeyId,
        contact_id: z.string().optional().describe('Only those of this contact, ctc_….'),
        step_id: z.string().optional().describe('Only those at this step.'),
        status: z.enum(['active', 'paused', 'completed', 'exited']).optional().describe('Only those in this status.'),
        limit,
      },
      annotations: READS,
    },
    ({ journey_id, ...query }) =>
      answer(async () => page(await postroom.journeys.enrollments(journey_id, query as never))),
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
