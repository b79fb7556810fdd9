import { createServer, request, type Server } from 'node:http';
import { isOwnHost } from '@postroom/network/host-check';
import { HOST } from './ports.ts';

/** Where the UI itself listens. */
export interface UiAddress {
  host: string;
  port: number;
}

/**
 * Forwards requests for a host of this machine to Temporal's Web UI. The UI itself answers under any, so that a web page
 * elsewhere could read workflows, and signal them, by a name that resolves to its address. It has no option against that, so it
 * listens on a random loopback address: there are 16 million of them, each with 20,000 ports, and a page can try only a few.
 */
export async function startUiProxy(port: number, ui: UiAddress): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    if (!isOwnHost(incoming.headers.host)) {
      outgoing.writeHead(403, { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' });
      return void outgoing.end('Open the Temporal UI by its IP address or as localhost.\n');
    }
    const { method, url, headers } = incoming;
    const passed = request({ ...ui, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, {
        // Lower case, as names in `headers` are. The UI has a stricter policy for summaries and details, which it shows in frames.
        'content-security-policy': "frame-ancestors 'none'",
        ...answer.headers,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
      });
      answer.pipe(outgoing);
    });
    passed.on('error', () => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502, { 'Content-Type': 'text/plain; charset=utf-8' }).end('Temporal does not answer.\n');
    });
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  // It lives as long as what started it, and does not keep that alive.
  server.unref();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, HOST, resolve));
  return server;
}
