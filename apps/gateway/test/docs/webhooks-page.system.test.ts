import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVENT_TYPE_NAMES, EVENT_TYPES } from '@postroom/events';
import { type Api, eventually, freePorts, startTestWorker, testApi } from '@postroom/testkit';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withEventTypes } from '../../../../scripts/webhook-docs.ts';

const page = readFileSync(new URL('../../../../docs/reference/webhooks.md', import.meta.url), 'utf8');
const SDK = new URL('../../../../sdk/typescript/src/index.ts', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'postroom-snippets-'));
const started: ChildProcess[] = [];

beforeAll(startTestWorker);
afterAll(() => {
  for (const child of started) child.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** The program below a heading of the page. */
function program(heading: string): string {
  const [, , source] = new RegExp(`^### ${heading}$[^]*?^\`\`\`(\\w+)\\n([^]*?)^\`\`\`$`, 'm').exec(page) ?? [];
  if (source === undefined) throw new Error(`docs/reference/webhooks.md has no program below "${heading}".`);
  return source.replaceAll("'@postroom/sdk'", `'${SDK}'`);
}

const has = (command: string) => {
  try {
    execFileSync(command, [command === 'go' ? 'version' : '--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

function write(name: string, source: string): string {
  const file = join(folder, name);
  writeFileSync(file, source);
  return file;
}

const PROGRAMS = [
  {
    heading: 'Node, with the SDK',
    needs: 'node',
    run: (source: string) => [process.execPath, write('sdk.mjs', source)],
  },
  { heading: 'Node alone', needs: 'node', run: (source: string) => [process.execPath, write('alone.mjs', source)] },
  { heading: 'Python', needs: 'python3', run: (source: string) => ['python3', write('receiver.py', source)] },
  {
    heading: 'Go',
    needs: 'go',
    run: (source: string) => {
      const binary = join(folder, 'receiver');
      execFileSync('go', ['build', '-o', binary, write('receiver.go', source)]);
      return [binary];
    },
  },
];

interface Running {
  url: string;
  port: number;
  endpoint: { id: string; secret: string };
}

/** Registers an endpoint and runs a program of the page as its receiver. */
async function run(api: Api, { heading, run: commandOf }: (typeof PROGRAMS)[number]): Promise<Running> {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}/`;
  const endpoint = (await api.post('/v1/webhooks', { url, events: ['contact.created'] })).body.data;
  const [command = '', ...args] = commandOf(program(heading));
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: endpoint.secret };
  started.push(spawn(command, args, { env, stdio: 'ignore' }));
  await eventually(() => fetch(url, { method: 'POST', body: '{}' }));
  return { url, port, endpoint };
}

test.each(PROGRAMS.map((one) => [one.heading, one] as const).filter(([, { needs }]) => needs === 'node' || has(needs)))(
  'docs/reference/webhooks.md: %s accepts real deliveries, and responds 401 to everything else',
  { timeout: 120_000 },
  async (_, one) => {
    const api = await testApi();
    const { url, endpoint } = await run(api, one);
    await api.contact('zoë@example.com', { name: 'Zoë 🐘' });
    await eventually(async () => {
      const { body } = await api.get(`/v1/webhooks/${endpoint.id}/deliveries`);
      expect(body.data).toMatchObject([{ state: 'acknowledged', attemptCount: 1 }]);
    });

    const body = '{"id":"evt_1","type":"contact.created"}';
    const sign = (secondsAgo: number, secret = endpoint.secret) => {
      const t = Math.floor(Date.now() / 1000) - secondsAgo;
      return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
    };
    const answer = async (signature: string | undefined, sent = body, previous?: string) => {
      const headers = {
        ...(signature === undefined ? {} : { 'X-Webhook-Signature': signature }),
        ...(previous === undefined ? {} : { 'X-Webhook-Signature-Previous': previous }),
      };
      return (await fetch(url, { method: 'POST', headers, body: sent })).status;
    };
    expect(await answer(sign(0))).toBe(204);
    // The secret was rotated, and this receiver still has the old one.
    expect(await answer(sign(0, 'whsec_new'), body, sign(0))).toBe(204);
    expect(await answer(sign(0, 'whsec_new'), body, sign(0, 'whsec_another'))).toBe(401);
    expect(await answer(sign(0, 'whsec_new'), body, sign(301))).toBe(401);
    expect(await answer(undefined)).toBe(401);
    const hex = '0'.repeat(64);
    // "\u00b2" is a digit to Python's isdigit(), but not to its int(), which also refuses more than 4,300 digits.
    for (const timestamp of ['', 'abc', '-1', '1e9', '\u00b2', '1'.repeat(5_000)]) {
      expect([timestamp, await answer(`t=${timestamp},v1=${hex}`)]).toEqual([timestamp, 401]);
    }
    const now = Math.floor(Date.now() / 1000);
    for (const malformed of [
      '',
      'abc',
      `t=${now}`,
      `v1=${hex}`,
      `t=${now},v1=`,
      `t=${now},v1=\u00e9`,
      `t=${now},v1=ab`,
    ]) {
      expect([malformed, await answer(malformed)]).toEqual([malformed, 401]);
    }
    expect(await answer(sign(0, 'whsec_another'))).toBe(401);
    expect(await answer(sign(0), `${body} `)).toBe(401);
    expect(await answer(sign(301))).toBe(401);
    expect(await answer(sign(-302))).toBe(401);
  },
);

test('docs/reference/webhooks.md: the shell signs a request that a receiver accepts', async () => {
  const api = await testApi();
  const { port, endpoint } = await run(api, PROGRAMS[1] as (typeof PROGRAMS)[number]);
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: endpoint.secret };
  expect(execFileSync('sh', ['-c', program('A shell')], { env, encoding: 'utf8' })).toBe('204\n');
});

test('docs/reference/webhooks.md lists every event type (otherwise run npm run webhook-docs)', () => {
  expect(withEventTypes(page)).toBe(page);
  for (const type of EVENT_TYPE_NAMES) expect(page).toContain(`| \`${type}\` | ${EVENT_TYPES[type].fires} |`);
});

test('the JSON Schema of each type is served with the docs, and matches what is posted', async () => {
  const api = await testApi();
  const list = (await api.get('/docs/events.json')).body.data as { type: string; schema: string; example: unknown }[];
  expect(list.map(({ type }) => type)).toEqual(EVENT_TYPE_NAMES);
  const ajv = new Ajv2020();
  for (const { type, schema, example } of list) {
    const takes = ajv.compile((await api.get(schema)).body);
    const body = { id: 'evt_1', type, created: '2026-11-21T09:30:00.000Z', project_id: 'prj_1', data: example };
    expect([type, takes(body)]).toEqual([type, true]);
    expect([type, takes({ ...body, data: {} })]).toEqual([type, false]);
    expect([type, takes({ ...body, type: 'another' })]).toEqual([type, false]);
  }
});
