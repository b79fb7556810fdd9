import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { Postroom } from '../../../sdk/typescript/src/index.ts';
import { answer, page, paging, READS } from './answers.ts';

const formId = z.string().regex(/^frm_/).describe('Form id, frm_….');

/** What `create_form` and `update_form` share. */
const settings = {
  title: z.string().optional().describe('The heading of its page; the name if omitted.'),
  description: z.string().optional().describe('Text above the fields.'),
  group_ids: z.array(z.string()).optional().describe('The groups that subscribers join, grp_….'),
  fields: z
    .array(z.strictObject({ key: z.string(), label: z.string().optional(), required: z.boolean().optional() }))
    .optional()
    .describe('What it asks for besides the address: name, or custom_fields. and the key of a custom field.'),
  consent_text: z.string().optional().describe('What subscribers must agree to with a checkbox.'),
  double_opt_in: z
    .boolean()
    .optional()
    .describe('Whether subscribers confirm their address by email; true by default.'),
  from: z.string().optional().describe('The sender of that email, such as Ada <ada@example.com>.'),
  reminder_after_hours: z.number().int().optional().describe('After how many hours it is repeated.'),
  submitted_url: z.string().optional().describe('Where browsers are sent after submission.'),
  confirmed_url: z.string().optional().describe('Where browsers are sent after confirmation.'),
  allowed_origins: z.array(z.string()).optional().describe('Origins of sites that embed it.'),
  enabled: z.boolean().optional().describe('Whether it accepts submissions.'),
};

/** Tools for subscription forms. */
export function registerFormTools(server: McpServer, postroom: Postroom): void {
  server.registerTool(
    'list_forms',
    {
      title: 'List forms',
      description: 'Subscription forms with their settings and the addresses of their pages.',
      inputSchema: z.strictObject(paging),
      annotations: READS,
    },
    (query) => answer(async () => page(await postroom.forms.list(query))),
  );
  server.registerTool(
    'get_form',
    {
      title: 'Get a form',
      description:
        'A form with HTML to paste into a site, and how many submissions wait for confirmation or are confirmed.',
      inputSchema: z.strictObject({ form_id: formId }),
      annotations: READS,
    },
    ({ form_id }) => answer(() => postroom.forms.get(form_id)),
  );
  server.registerTool(
    'list_form_submissions',
    {
      title: 'List the submissions of a form',
      description: 'Who submitted a form, and when and from which network they consented.',
      inputSchema: z.strictObject({
        form_id: formId,
        status: z.enum(['pending', 'blocked', 'confirmed', 'expired']).optional().describe('Only those in this state.'),
        email: z.string().optional().describe('Only those of this address.'),
        ...paging,
      }),
      annotations: READS,
    },
    ({ form_id, ...query }) => answer(async () => page(await postroom.forms.submissions(form_id, query))),
  );
  server.registerTool(
    'create_form',
    {
      title: 'Create a form',
      description: 'Creates a subscription form, which is reachable at its url at once.',
      inputSchema: z.strictObject({ name: z.string().describe('A name that no other form has.'), ...settings }),
      annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    (body) => answer(() => postroom.forms.create(body as never)),
  );
  server.registerTool(
    'update_form',
    {
      title: 'Change a form',
      description: 'Changes the given settings of a form. Lists are replaced as a whole.',
      inputSchema: z.strictObject({
        form_id: formId,
        name: z.string().optional().describe('A new name.'),
        ...settings,
      }),
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ form_id, ...body }) => answer(() => postroom.forms.update(form_id, body as never)),
  );
}
