import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface BrowserPage extends AsyncDisposable {
  /** The URLs that the page requested. */
  requests: string[];
  /** Browser errors: from scripts, and violations of the content security policy. */
  problems: string[];
  evaluate: (expression: string) => Promise<unknown>;
  /** Waits until an expression is true; throws after forty-five seconds. */
  until: (expression: string) => Promise<void>;
}

interface Message {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: { result?: { value?: unknown }; sessionId?: string; targetId?: string };
  error?: { message: string };
}

/** Opens a URL in a new browser, listening from the first byte on. */
export async function openPage(program: string, address: string): Promise<BrowserPage> {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-browser-'));
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--remote-debugging-port=0',
    `--user-data-dir=${folder}`,
  ];
  const browser = spawn(program, [...flags, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const end = new Promise((resolve) => browser.once('exit', resolve));
  const socket = new WebSocket(await debuggerAddress(browser.stderr));
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const [requests, problems] = [[] as string[], [] as string[]];
  const waiting = new Map<number, (message: Message) => void>();
  let sent = 0;
  let sessionId: string | undefined;

  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else note(message, requests, problems);
  });
  const send = async (method: string, params: object = {}) => {
    const id = ++sent;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    const { error, result } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
  const evaluate = async (expression: string) =>
    (await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })).result?.value;

  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  ({ sessionId } = await send('Target.attachToTarget', { targetId, flatten: true }));
  for (const domain of ['Network', 'Log', 'Runtime', 'Page']) await send(`${domain}.enable`);
  await send('Page.navigate', { url: address });
  return {
    requests,
    problems,
    evaluate,
    until: async (expression) => {
      for (const deadline = Date.now() + 45_000; (await evaluate(expression)) !== true;) {
        if (Date.now() > deadline)
          throw new Error(`The page never came to be so: ${expression}\n${problems.join('\n')}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    [Symbol.asyncDispose]: async () => {
      socket.close();
      browser.kill();
      await end;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function note({ method, params = {} }: Message, requests: string[], problems: string[]): void {
  if (method === 'Network.requestWillBeSent') requests.push((params.request as { url: string }).url);
  if (method === 'Runtime.exceptionThrown') problems.push(JSON.stringify(params.exceptionDetails));
  const entry = params.entry as { level: string; text: string } | undefined;
  if (method === 'Log.entryAdded' && entry !== undefined && entry.level !== 'verbose') problems.push(entry.text);
}

/** Chromium prints its debugger URL to standard error. */
async function debuggerAddress(output: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of output) {
    text += chunk.toString();
    const [, address] = /listening on (ws:\S+)/.exec(text) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`The browser did not start:\n${text}`);
}
