import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { type Postroom, PostroomError } from '../../../sdk/typescript/src/index.ts';
import { registerAbTestTools } from './ab-test-tools.ts';
import { answer, page, paging, READS, SENDS } from './answers.ts';
import { registerFormTools } from './form-tools.ts';
import { registerJourneyTools } from './journey-tools.ts';

const campaignId = z.string().regex(/^cmp_/).describe('Campaign id, cmp_….');

/** Registers the tools. Each calls /v1 with the caller's key. */
export function registerTools(server: McpServer, postroom: Postroom): void {
  registerContactTools(server, postroom);
  registerEventTools(server, postroom);
  registerCampaignTools(server, postroom);
  registerAbTestTools(server, postroom);
  registerFormTools(server, postroom);
  registerJourneyTools(server, postroom);
  registerWebhookTools(server, postroom);
}

function registerContactTools(server: McpServer, postroom: Postroom): void {
  server.registerTool(
    'list_contacts',
    {
      title: 'List contacts',
      description: 'Finds contacts of the project, with suppression status, segments and custom fields.',
      inputSchema: z.strictObject({
        search: z.string().optional().describe('Part of the address or name.'),
        email: z.string().optional().describe('The full address.'),
        group_id: z.string().optional().describe('Only members of this group.'),
        ...paging,
      }),
      annotations: READS,
    },
    (query) => answer(async () => page(await postroom.contacts.list(query))),
  );
  server.registerTool(
    'create_contact',
    {
      title: 'Create a contact',
      description: 'Adds a contact, or returns the existing contact with that address unchanged.',
      inputSchema: z.strictObject({
        email: z.string().describe('The address; it must not be suppressed.'),
        name: z.string().optional().describe('Defaults to the part of the address before the @.'),
        custom_fields: z
          .record(z.string(), z.unknown())
          .optional()
          .describe("By key, as defined by the project's custom fields."),
      }),
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ email, name, custom_fields }) =>
      answer(() => postroom.contacts.create({ email, name, custom_fields: custom_fields as never })),
  );
}

function registerEventTools(server: McpServer, postroom: Postroom): void {
  server.registerTool(
    'track_event',
    {
      title: 'Track an event',
      description:
        'Records something that a contact did, such as "order placed". Shows whether it was a duplicate. The contact enters the active journeys that the event starts, which may mail it.',
      inputSchema: z.strictObject({
        name: z.string().describe('What happened; put what varies into properties.'),
        email: z.string().describe("The contact's address."),
        id: z.string().optional().describe('An id of the event: an event with the id of an earlier one is not stored.'),
        properties: z.record(z.string(), z.unknown()).optional().describe('What is known about it.'),
        occurred_at: z.string().optional().describe('ISO 8601 with an offset, up to 30 days ago; now by default.'),
      }),
      annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: true },
    },
    (event) => answer(() => postroom.events.track({ ...event, properties: event.properties as never })),
  );
  server.registerTool(
    'list_events',
    {
      title: 'List events',
      description: 'What contacts did, the latest first, with properties.',
      inputSchema: z.strictObject({
        name: z.string().optional().describe('Only events of this name.'),
        contact_id: z.string().optional().describe('Only events of this contact, ctc_….'),
        ...paging,
      }),
      annotations: READS,
    },
    (query) => answer(async () => page(await postroom.events.list(query))),
  );
}

function registerCampaignTools(server: McpServer, postroom: Postroom): void {
  server.registerTool(
    'list_campaigns',
    {
      title: 'List campaigns',
      description: 'Campaigns with their status and counts: sent, delivered, opened, clicked, bounced, unsubscribed.',
      inputSchema: z.strictObject(paging),
      annotations: READS,
    },
    (query) => answer(async () => page(await postroom.campaigns.list(query))),
  );
  server.registerTool(
    'campaign_preflight',
    {
      title: 'Check a campaign before sending',
      description:
        'Shows what sending a campaign now would do: how many recipients it has, what blocks it and what to review. Changes nothing.',
      inputSchema: z.strictObject({ campaign_id: campaignId }),
      annotations: READS,
    },
    ({ campaign_id }) => answer(() => postroom.campaigns.preflight(campaign_id)),
  );
  server.registerTool(
    'send_campaign',
    {
      title: 'Send a campaign',
      description:
        'Sends a draft or scheduled campaign to its whole audience now. This cannot be undone: run campaign_preflight first and ask the user to confirm.',
      inputSchema: z.strictObject({ campaign_id: campaignId }),
      annotations: SENDS,
    },
    ({ campaign_id }) => answer(() => postroom.campaigns.send(campaign_id)),
  );
}

function registerWebhookTools(server: McpServer, postroom: Postroom): void {
  server.registerTool(
    'list_webhooks',
    {
      title: 'List webhook endpoints',
      description:
        'The URLs that receive events, the event types they subscribe to, and whether and why an endpoint was disabled.',
      inputSchema: z.strictObject(paging),
      annotations: READS,
    },
    (query) => answer(async () => page(await postroom.webhooks.list(query))),
  );
  server.registerTool(
    'send_test_webhook',
    {
      title: 'Send a test webhook',
      description:
        'Queues a webhook.test event for an endpoint. Call delivery_status with the returned id to see whether it arrived.',
      inputSchema: z.strictObject({
        endpoint_id: z
          .string()
          .regex(/^whe_/)
          .optional()
          .describe('Endpoint id, whe_…; optional when the project has only one.'),
      }),
      annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: true },
    },
    ({ endpoint_id }) => answer(async () => postroom.webhooks.test(endpoint_id ?? (await onlyEndpoint(postroom)))),
  );
  server.registerTool(
    'delivery_status',
    {
      title: 'Get delivery status',
      description:
        'For a webhook delivery (dlv_…): its attempts and their responses. For an email (eml_…): its events. For a campaign (cmp_…): status and counts.',
      inputSchema: z.strictObject({
        id: z
          .string()
          .regex(/^(dlv|eml|cmp)_/)
          .describe('The id of a delivery, email or campaign.'),
      }),
      annotations: READS,
    },
    ({ id }) => answer(() => statusOf(postroom, id)),
  );
}

function statusOf(postroom: Postroom, id: string): Promise<object> {
  if (id.startsWith('dlv_')) return postroom.deliveries.get(id);
  return id.startsWith('eml_') ? postroom.emails.get(id) : postroom.campaigns.get(id);
}

async function onlyEndpoint(postroom: Postroom): Promise<string> {
  const { data } = await postroom.webhooks.list({ limit: 2 });
  const [only, another] = data;
  if (only !== undefined && another === undefined) return only.id;
  const message =
    only === undefined
      ? 'The project has no webhook endpoint.'
      : 'The project has several endpoints: specify endpoint_id.';
  throw new PostroomError({ code: 'validation_error', message });
}
