import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Postroom } from '../../../sdk/typescript/src/index.ts';
import { registerTools } from './tools.ts';

export interface Credentials {
  /** Where the gateway is. */
  baseUrl: string;
  /** A full-scope API key: what it may not do, no tool can. */
  apiKey: string;
  /** Needed when the key covers several projects. */
  projectId?: string | undefined;
}

/** The tools, in the name of one API key. */
export function createServer(credentials: Credentials): McpServer {
  const server = new McpServer(
    { name: 'postroom', title: 'Postroom', version: '0.1.0' },
    {
      instructions:
        'Contacts, campaigns and webhooks of one Postroom project. Nothing is mailed except by send_campaign.',
    },
  );
  registerTools(server, new Postroom({ ...credentials, timeoutMs: 20_000, maxRetries: 2 }));
  return server;
}
