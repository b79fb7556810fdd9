// The tool server: over stdio for one person's assistant, or with --http for several (see docs/how-to/mcp.md). It knows
// the gateway's address and nothing else, so it can run wherever the assistant does.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { startHttp } from './http.ts';
import { createServer } from './server.ts';

const {
  POSTROOM_URL: baseUrl = 'http://127.0.0.1:3400',
  POSTROOM_API_KEY: apiKey = '',
  POSTROOM_PROJECT_ID: projectId,
  HOST: host = '127.0.0.1',
  MCP_PORT: port = '3405',
} = process.env;

/** Standard output belongs to the protocol, so what people should read goes to standard error. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

if (process.argv.includes('--http')) {
  const server = await startHttp({ host, port: Number(port), baseUrl });
  say(`The tools are at ${server.url}, and Postroom at ${baseUrl}.`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.stop());
} else if (apiKey === '') {
  say('POSTROOM_API_KEY is not set: give it a full-scope API key, pr_….');
  process.exitCode = 1;
} else {
  await createServer({ baseUrl, apiKey, projectId }).connect(new StdioServerTransport());
}
