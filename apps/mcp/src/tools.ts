import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type Postroom, PostroomError } from '../../../sdk/typescript/src/index.ts';

const READS = { readOnlyHint: true, openWorldHint: false } as const;

const limit = z.number().int().min(1).max(100).default(20).describe('How many at most, newest first.');
const campaignId = z.string().regex(/^cmp_/).describe('Campaign id, cmp_….');

/** Registers what an assistant may do, all of it through /v1 with the caller's key. */
export function registerTools(server: McpServer, postroom: Postroom): void {
  registerContactTools(server, postroom);
  registerCampaignTools(server, postroom);
  registerWebhookTools(server, postroom);
}

function registerContactTools(server: McpServer, postroom: Postroom): void {
  server.registerTool(
    'list_contacts',
    {
      title: 'List contacts',
      description: 'Finds contacts of the project, with suppression status, segments and custom fields.',
      inputSchema: {
        search: z.string().optional().describe('Part of the address or of the name.'),
        email: z.string().optional().describe('The whole address.'),
        group_id: z.string().optional().describe('Only members of this group.'),
        limit,
      },
      annotations: READS,
    },
    (query) => answer(async () => page(await postroom.contacts.list(query))),
  );
  server.registerTool(
    'create_contact',
    {
      title: 'Create a contact',
      description: 'Adds a contact, or returns the one that has the address already, unchanged.',
      inputSchema: {
        email: z.string().describe('The address; it must not be suppressed.'),
        name: z.string().optional().describe('The part of the address before the @ unless given.'),
        custom_fields: z
          .record(z.string(), z.unknown())
          .optional()
          .describe("By key, as the project's fields are defined."),
      },
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ email, name, custom_fields }) =>
      answer(() => postroom.contacts.create({ email, name, custom_fields: custom_fields as never })),
  );
}

function registerCampaignTools(server: McpServer, postroom: Postroom): void {
  server.registerTool(
    'list_campaigns',
    {
      title: 'List campaigns',
      description:
        'Campaigns with their status and how many were sent, delivered, opened, clicked, bounced, unsubscribed.',
      inputSchema: { limit },
      annotations: READS,
    },
    (query) => answer(async () => page(await postroom.campaigns.list(query))),
  );
  server.registerTool(
    'campaign_preflight',
    {
      title: 'Check a campaign before sending',
      description:
        'What would happen if a campaign were sent now: to how many, what keeps it from it, what to look at. Changes nothing.',
      inputSchema: { campaign_id: campaignId },
      annotations: READS,
    },
    ({ campaign_id }) => answer(() => postroom.campaigns.preflight(campaign_id)),
  );
  server.registerTool(
    'send_campaign',
    {
      title: 'Send a campaign',
      description:
        'Sends a draft or scheduled campaign to everyone in its audience, now. That can not be taken back: run campaign_preflight first, and ask the person you work for.',
      inputSchema: { campaign_id: campaignId },
      annotations: { destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    ({ campaign_id }) => answer(() => postroom.campaigns.send(campaign_id)),
  );
}

function registerWebhookTools(server: McpServer, postroom: Postroom): void {
  server.registerTool(
    'list_webhooks',
    {
      title: 'List webhook endpoints',
      description: 'The URLs that events are posted to, which events, and whether an endpoint was disabled, and why.',
      inputSchema: { limit },
      annotations: READS,
    },
    (query) => answer(async () => page(await postroom.webhooks.list(query))),
  );
  server.registerTool(
    'send_test_webhook',
    {
      title: 'Send a test webhook',
      description:
        'Queues a webhook.test event for an endpoint. delivery_status of the id returned says whether it arrived.',
      inputSchema: {
        endpoint_id: z
          .string()
          .regex(/^whe_/)
          .optional()
          .describe('Endpoint id, whe_…; may be left out when there is one.'),
      },
      annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: true },
    },
    ({ endpoint_id }) => answer(async () => postroom.webhooks.test(endpoint_id ?? (await onlyEndpoint(postroom)))),
  );
  server.registerTool(
    'delivery_status',
    {
      title: 'What became of something that was sent',
      description:
        'Of a webhook delivery (dlv_…): its attempts and the answers to them. Of an email (eml_…): what has happened to it. Of a campaign (cmp_…): status and counts.',
      inputSchema: {
        id: z
          .string()
          .regex(/^(dlv|eml|cmp)_/)
          .describe('The id of a delivery, an email or a campaign.'),
      },
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
    only === undefined ? 'The project has no webhook endpoint.' : 'There are several endpoints: name one.';
  throw new PostroomError({ code: 'validation_error', message });
}

const page = ({ data, has_more }: { data: object[]; has_more: boolean }) => ({ data, has_more });

/** A result that programs and models can read; what the API refuses is told to the model, which may do better then. */
async function answer(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    const result = await work();
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { ...result } };
  } catch (error) {
    if (!(error instanceof PostroomError)) throw error;
    const details = error.details.map(({ field, message }) => `${field} ${message}`);
    const text = [`${error.code}: ${error.message}`, ...details].join('\n');
    return { content: [{ type: 'text', text }], isError: true };
  }
}
