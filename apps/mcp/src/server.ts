import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Postroom } from '../../../sdk/typescript/src/index.ts';
import { registerTools } from './tools.ts';

export interface Credentials {
  /** The gateway's base URL. */
  baseUrl: string;
  /** A full-scope API key; the tools can do only what it may do. */
  apiKey: string;
  /** Required when the key covers several projects. */
  projectId?: string | undefined;
}

/** Creates a server whose tools act with one API key. */
export function createServer(credentials: Credentials): McpServer {
  const server = new McpServer(
    { name: 'postroom', title: 'Postroom', version: '0.1.0' },
    {
      instructions:
        'Contacts, campaigns, journeys and webhooks of one Postroom project. Mail is sent only by send_campaign, by A/B tests (start_ab_test, choose_ab_test_winner) and by active journeys: publish_journey, resume_journey, enroll_contacts and track_event may cause it.',
    },
  );
  registerTools(server, new Postroom({ ...credentials, timeoutMs: 20_000, maxRetries: 2 }));
  return server;
}
