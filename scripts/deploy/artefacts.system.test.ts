import { execFile, execFileSync, spawn } from 'node:child_process';
import { on } from 'node:events';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { isProgram, parseConfig } from '@postroom/settings';
import { freePorts } from '@postroom/testkit';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { SECRETS, SECTIONS } from '@postroom/settings';
import { deployCheck, hadolint, installed } from './tools.ts';

const run = promisify(execFile);

const DEPLOY = join(import.meta.dirname, '../../deploy');
const CHART = join(DEPLOY, 'helm/postroom');
const SCHEMAS = join(import.meta.dirname, 'schemas');
const EXAMPLES = globSync('helm/examples/*.yaml', { cwd: DEPLOY });
const SETTINGS = new Set<string>([
  ...Object.values(SECTIONS).flatMap((section) => Object.keys(section)),
  ...SECRETS.map((name) => `${name}_FILE`),
]);

/** The commands of the image, from `postroom --help`. */
const COMMANDS = new Set(
  execFileSync(process.execPath, [join(DEPLOY, '../bin/postroom.mjs'), '--help'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^ {2}([\w-]+) /.exec(line)?.[1]),
);

const folder = mkdtempSync(join(tmpdir(), 'postroom-deploy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const [check, lint] = await Promise.all([deployCheck(), hadolint()]);

test.skipIf(lint === undefined)('the Dockerfile has no findings', async () => {
  const { stdout } = await run(lint ?? '', [join(DEPLOY, 'Dockerfile')]);
  expect(stdout).toBe('');
});

/** A service of the Compose project, as far as the tests look at it. */
interface ComposeService {
  command?: string[];
  environment?: Record<string, string>;
  read_only?: boolean;
  cap_drop?: string[];
  ports?: { published: string; host_ip?: string }[];
  secrets?: { source: string }[];
}

/** Generates the secrets as deploy/up.sh does on a machine without Docker, and loads the project. */
async function composeProject(): Promise<{ folder: string; services: Record<string, ComposeService> }> {
  const copy = mkdtempSync(join(folder, 'compose-'));
  cpSync(DEPLOY, copy, { recursive: true });
  await run(join(copy, 'up.sh'), { env: { PATH: process.env.PATH, DOCKER: 'no-such-program' } });
  const { stdout } = await run(check ?? '', ['compose', join(copy, 'compose.yaml')], { cwd: copy });
  return { folder: copy, ...(JSON.parse(stdout) as { services: Record<string, ComposeService> }) };
}

/** Those of our image, by the program that they run. */
const programsOf = (services: Record<string, ComposeService>) =>
  Object.values(services).flatMap((service) => {
    const [program = ''] = service.command ?? [];
    return isProgram(program) ? [{ program, ...service }] : [];
  });

test.skipIf(check === undefined)(
  'Compose runs every program without privileges on a read-only file system',
  async () => {
    const { services } = await composeProject();
    const programs = programsOf(services);
    expect(programs.map(({ program }) => program).sort()).toEqual([
      'bounces',
      'gateway',
      'migrate',
      'submission',
      'worker',
    ]);
    for (const service of programs) expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    const open = Object.values(services).flatMap(({ ports = [] }) =>
      ports.filter(({ host_ip: ip }) => ip === undefined),
    );
    expect(open.map(({ published }) => published).sort()).toEqual(['25', '587']);
  },
);

test.skipIf(check === undefined)(
  'the generated settings are all that the programs need, and stay on a second run',
  async () => {
    const { folder: copy, services } = await composeProject();
    for (const { program, environment = {}, secrets = [] } of programsOf(services)) {
      expect(Object.keys(environment).filter((name) => !SETTINGS.has(name))).toEqual([]);
      const files = new Set(secrets.map(({ source }) => `/run/secrets/${source}`));
      const env = Object.fromEntries(
        Object.entries(environment).map(([name, value]) => {
          if (!value.startsWith('/run/secrets/')) return [name, value];
          expect([...files]).toContain(value);
          const source = value
            .replace('/run/secrets/', '')
            .replace('tls_certificate', 'tls.crt')
            .replace('tls_key', 'tls.key');
          return [name, join(copy, 'secrets', source)];
        }),
      );
      expect(() => parseConfig(env, program)).not.toThrow();
    }
    const before = readFileSync(join(copy, 'secrets/secret_key'), 'utf8');
    await run(join(copy, 'up.sh'), { env: { PATH: process.env.PATH, DOCKER: 'no-such-program' } });
    expect(readFileSync(join(copy, 'secrets/secret_key'), 'utf8')).toBe(before);
    expect(statSync(join(copy, 'secrets')).mode & 0o077).toBe(0);
  },
);

/** What the chart renders with a file of values. */
async function render(values: string): Promise<string> {
  const { stdout } = await run(check ?? '', ['chart', CHART, values]);
  return stdout;
}

test.skipIf(check === undefined).each(EXAMPLES)(
  '%s renders to valid manifests with known settings',
  async (example) => {
    const rendered = await render(join(DEPLOY, example));
    const file = join(folder, 'manifests.yaml');
    writeFileSync(file, rendered);
    const { stdout } = await run(check ?? '', ['manifests', SCHEMAS, file]);
    expect(stdout).toMatch(/^\d+ valid$/m);
    const named = [...rendered.matchAll(/^ +(?:- name: )?([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?::|$)/gm)].map(
      ([, name = '']) => name,
    );
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !SETTINGS.has(name))).toEqual([]);
    const commands = [...rendered.matchAll(/^ +args: \["?([\w-]+)/gm)].map(([, name = '']) => name);
    expect(commands.filter((name) => !COMMANDS.has(name))).toEqual([]);
  },
);

test.skipIf(check === undefined)(
  'the chart rejects values that it does not know, or that lack the public URL',
  async () => {
    const values = join(folder, 'values.yaml');
    const minimal = readFileSync(join(DEPLOY, 'helm/examples/minimal.yaml'), 'utf8');
    writeFileSync(values, `${minimal}gatway: {}\n`);
    await expect(render(values)).rejects.toThrow("additional properties 'gatway' not allowed");
    writeFileSync(values, minimal.replace(/^ +PUBLIC_URL.*\n/m, ''));
    await expect(render(values)).rejects.toThrow("missing property 'PUBLIC_URL'");
  },
);

test.skipIf(check === undefined)('a manifest with an unknown field is found', async () => {
  const file = join(folder, 'wrong.yaml');
  const rendered = await render(join(DEPLOY, 'helm/examples/minimal.yaml'));
  writeFileSync(file, rendered.replace('readOnlyRootFilesystem:', 'readOnlyRootFileSystem:'));
  await expect(run(check ?? '', ['manifests', SCHEMAS, file])).rejects.toThrow('readOnlyRootFileSystem');
});

test.skipIf(!installed('promtool'))(
  'Prometheus accepts the alert rules, and they fire as their tests say',
  async () => {
    const cwd = join(DEPLOY, 'prometheus');
    await run('promtool', ['check', 'rules', 'alerts.yaml'], { cwd });
    await run('promtool', ['check', 'config', '--syntax-only', 'prometheus.yaml'], { cwd });
    const { stdout } = await run('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd });
    expect(stdout).toContain('SUCCESS');
  },
);

test.skipIf(!installed('caddy'))('Caddy accepts its configuration', async () => {
  const { stdout } = await run('caddy', [
    'validate',
    '--config',
    join(DEPLOY, 'caddy/Caddyfile'),
    '--adapter',
    'caddyfile',
  ]);
  expect(stdout).toContain('Valid configuration');
});

test.skipIf(!installed('caddy'))(
  'behind Caddy, requests wait for a gateway that restarts, and no client can forge its address',
  async () => {
    const [port = 0, gatewayPort = 0] = await freePorts(2);
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      GATEWAY: `127.0.0.1:${gatewayPort}`,
    };
    const { stdout } = await run(
      'caddy',
      ['adapt', '--config', join(DEPLOY, 'caddy/Caddyfile'), '--adapter', 'caddyfile'],
      { env },
    );
    const config = join(folder, 'caddy.json');
    const logging = { logs: { default: { level: 'DEBUG' } } };
    writeFileSync(config, JSON.stringify({ ...JSON.parse(stdout), admin: { disabled: true }, logging }));
    const caddy = spawn('caddy', ['run', '--config', config], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void caddy.kill());
    const log = createInterface({ input: caddy.stderr });
    const logged = async (text: string) => {
      for await (const [line] of on(log, 'line')) if (String(line).includes(text)) return;
    };

    await logged('serving initial configuration');
    const refused = logged('connection refused');
    const answer = fetch(env.PUBLIC_URL, {
      headers: { 'X-Forwarded-For': '203.0.113.1', Forwarded: 'for=203.0.113.1' },
    });
    await refused;
    const gateway = createServer(({ headers }, response) =>
      response.end(JSON.stringify([headers['x-forwarded-for'], headers.forwarded ?? null])),
    ).listen(gatewayPort, '127.0.0.1');
    onTestFinished(() => void gateway.close());
    expect(await (await answer).json()).toEqual(['127.0.0.1', null]);
  },
);

test.skipIf(!installed('systemd-analyze'))('systemd accepts the units', () => {
  const units = join(folder, 'units');
  mkdirSync(units);
  for (const name of globSync('*', { cwd: join(DEPLOY, 'systemd') })) {
    // Only the programs that the units start are missing here.
    const unit = readFileSync(join(DEPLOY, 'systemd', name), 'utf8').replaceAll(
      /^ExecStart=\S+/gm,
      'ExecStart=/bin/true',
    );
    writeFileSync(join(units, name.replace('@.', '@gateway.')), unit);
  }
  const files = globSync('*', { cwd: units }).map((name) => join(units, name));
  expect(execFileSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
});

test('a restart of the migration stops no program', () => {
  const unit = readFileSync(join(DEPLOY, 'systemd/postroom@.service'), 'utf8');
  expect(unit).toMatch(/^After=.*\bpostroom-migrate\.service$/m);
  expect(unit).toMatch(/^Wants=.*\bpostroom-migrate\.service$/m);
  // Each of these would pass the restart on.
  expect(unit).not.toMatch(/^(Requires|Requisite|BindsTo|PartOf)=.*postroom-migrate/m);
});
