// The MCP server: over stdio for one person's assistant, or with --http for several (see docs/how-to/mcp.md). It only
// needs the gateway's URL, so it can run next to the assistant.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { runCommand } from '@postroom/errors';
import { checkSettings } from '@postroom/settings';
import { parseArgs } from 'node:util';
import { startHttp } from './http.ts';
import { createServer } from './server.ts';

const {
  POSTROOM_URL: baseUrl,
  POSTROOM_API_KEY: apiKey,
  POSTROOM_PROJECT_ID: projectId,
  HOST: host,
  MCP_PORT: port,
} = checkSettings('mcp');

/** Writes to standard error, because the protocol owns standard output. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

await runCommand('postroom mcp', async () => {
  const { values } = parseArgs({ options: { http: { type: 'boolean' } } });
  if (values.http === true) {
    const server = await startHttp({ host, port, baseUrl });
    say(`The tools are served at ${server.url}; Postroom is at ${baseUrl}.`);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.stop());
  } else if (apiKey === undefined) {
    throw new Error('POSTROOM_API_KEY is not set. Set it to a full-scope API key (pr_…).');
  } else {
    await createServer({ baseUrl, apiKey, projectId }).connect(new StdioServerTransport());
  }
});
