import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, startTestWorker, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const POSTROOM = join(import.meta.dirname, '../../bin/postroom.mjs');

/** Runs `postroom journeys` asynchronously, because this process serves the API. */
async function journeys(api: Api, ...args: string[]) {
  const { DATABASE_URL: _, ...env } = process.env;
  const program = spawn(process.execPath, [POSTROOM, 'journeys', ...args, '--url', api.url], {
    env: { ...env, POSTROOM_API_KEY: api.key },
  });
  let [out, err] = ['', ''];
  program.stdout.on('data', (chunk) => (out += String(chunk)));
  program.stderr.on('data', (chunk) => (err += String(chunk)));
  const status = await new Promise<number | null>((resolve) => program.once('close', resolve));
  return { status, out: out.trim().split('\n'), err: err.trim().split('\n') };
}

const newFolder = () => join(mkdtempSync(join(tmpdir(), 'postroom-journeys-')), 'journeys');
const wait = (id: string, days = 1) => ({ id, type: 'wait', for: { days } });
const manual = (...steps: object[]) => ({ entry: { type: 'manual' }, steps });
const write = (folder: string, file: string, journey: object) =>
  writeFileSync(join(folder, file), JSON.stringify(journey));

test('journeys are pulled to files, changed there, compared, pushed as drafts and published', async () => {
  const api = await testApi();
  const create = async (name: string, definition: object) =>
    (await api.post('/v1/journeys', { name, definition })).body.data.id as string;
  const id = await create('Welcome series', manual(wait('first')));
  await create('Win-back', manual(wait('first')));
  const folder = newFolder();

  expect((await journeys(api, 'diff', folder)).err).toEqual([`${folder}: there is no such folder`]);
  expect(await journeys(api, 'pull', folder)).toMatchObject({ status: 0 });
  expect(readdirSync(folder).toSorted()).toEqual(['welcome-series.json', 'win-back.json']);
  expect(await journeys(api, 'diff', folder)).toMatchObject({ status: 0, out: [''] });
  expect((await journeys(api, 'push', folder)).out).toEqual([
    'welcome-series.json: no changes',
    'win-back.json: no changes',
  ]);

  // A file keeps its name, and /v1 names are accepted in it.
  renameSync(join(folder, 'welcome-series.json'), join(folder, 'onboarding.json'));
  write(folder, 'onboarding.json', {
    name: 'Welcome series',
    definition: { ...manual(wait('first', 2)), time_zone: 'Europe/Berlin' },
  });
  write(folder, 'new.json', { name: 'New', definition: manual(wait('first')) });
  const compared = await journeys(api, 'diff', folder);
  expect(compared.status).toBe(1);
  expect(compared.out).toContain('new.json: not in the project');
  expect(compared.out).toContain('onboarding.json: differs from the draft');
  expect(compared.out.filter((line) => /^ {2}[+-]/.test(line)).map((line) => line.replace(/\s+/g, ' '))).toEqual([
    ' + "timeZone": "Europe/Berlin",',
    expect.stringMatching(/^ [+-] "days": [12]/),
    expect.stringMatching(/^ [+-] "days": [12]/),
  ]);
  expect((await journeys(api, 'push', folder)).out).toEqual([
    'new.json: created',
    'onboarding.json: updated',
    'win-back.json: no changes',
  ]);
  expect((await journeys(api, 'diff', folder)).status).toBe(0);
  const { data } = (await api.get(`/v1/journeys/${id}`)).body;
  expect(data).toMatchObject({ status: 'draft', definition: { timeZone: 'Europe/Berlin' } });

  expect((await journeys(api, 'push', folder, '--publish')).out.slice(3)).toEqual([
    'new.json: published as version 1',
    'onboarding.json: published as version 1',
    'win-back.json: published as version 1',
  ]);
  expect((await journeys(api, 'push', folder, '--publish')).out).toHaveLength(3);

  // A paused journey stays paused: publishing would start it.
  await api.post(`/v1/journeys/${id}/pause`);
  write(folder, 'onboarding.json', { name: 'Welcome series', definition: manual(wait('first', 3)) });
  expect((await journeys(api, 'push', folder, '--publish')).out).toContain(
    'onboarding.json: not published, because the journey is paused',
  );
  expect((await api.get(`/v1/journeys/${id}`)).body.data).toMatchObject({ status: 'paused', publishedVersion: 1 });

  await api.post(`/v1/journeys/${id}/archive`);
  expect(await journeys(api, 'pull', folder)).toMatchObject({ status: 0 });
  expect(existsSync(join(folder, 'onboarding.json'))).toBe(true);
  expect((await journeys(api, 'pull', folder, '--prune')).out).toContain(
    'onboarding.json: deleted, the project has no "Welcome series"',
  );
  expect(readdirSync(folder).toSorted()).toEqual(['new.json', 'win-back.json']);
}, 60_000);

test('errors name the file, the field and the step, and nothing is published', async () => {
  const api = await testApi();
  await api.post('/v1/journeys', { name: 'Good', definition: manual(wait('first')) });
  const folder = newFolder();
  await journeys(api, 'pull', folder);
  write(folder, 'bad.json', { name: 'Bad', definition: manual({ id: 'hello', type: 'wait' }) });
  expect(await journeys(api, 'push', folder)).toMatchObject({
    status: 0,
    out: ['bad.json: created', 'good.json: no changes', 'bad.json: definition.steps.0.for is required (step "hello")'],
  });
  const pushed = await journeys(api, 'push', folder, '--publish');
  expect([pushed.status, pushed.err]).toEqual([
    2,
    ['bad.json: definition.steps.0.for is required (step "hello")', 'Nothing was published.'],
  ]);
  // Once, also where the message names it.
  write(folder, 'bad.json', { name: 'Bad', definition: manual({ id: 'join', type: 'join_group', group_id: 'grp_x' }) });
  expect((await journeys(api, 'push', folder)).out.at(-1)).toMatch(
    /^bad.json: definition.steps.0.group_id [^"]* \(step "join"\)$/,
  );
  write(folder, 'bad.json', { name: 'x\ny', definition: manual(wait('first')) });
  expect((await journeys(api, 'push', folder)).err).toEqual([expect.stringMatching(/^bad\.json: name /)]);
  writeFileSync(join(folder, 'bad.json'), '{');
  const before = readFileSync(join(folder, 'good.json'), 'utf8');
  for (const action of ['push', 'pull', 'diff'])
    expect(await journeys(api, action, folder)).toMatchObject({
      status: 2,
      err: [expect.stringMatching(/^bad\.json: is not valid JSON/)],
    });
  expect(readFileSync(join(folder, 'good.json'), 'utf8')).toBe(before);
  expect((await api.get('/v1/journeys')).body.data.map(({ status }: { status: string }) => status)).toEqual([
    'draft',
    'draft',
  ]);
}, 60_000);

test('a call that cannot work says what to change', () => {
  const run = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [POSTROOM, 'journeys', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    });
    return [status, stderr.trim()];
  };
  expect(run('push')).toEqual([2, 'POSTROOM_API_KEY is not set. Set it to a full-scope API key (pr_…).']);
  expect(run('fetch')).toEqual([2, 'Usage: postroom journeys pull|push|diff [FOLDER] [options]']);
  expect(run('push', '--in-progress', 'stay')).toEqual([2, '--in-progress must be finish, move or exit, not "stay".']);
});

test('a file is tested against the past, and a build fails if an expectation is not met', async () => {
  await startTestWorker();
  const api = await testApi();
  await api.contact('ada@example.com');
  const occurred_at = new Date(Date.now() - 3 * 86_400_000).toISOString();
  await api.post('/v1/events', { name: 'signed up', email: 'ada@example.com', occurred_at });
  const folder = newFolder();
  mkdirSync(folder);
  const definition = { entry: { type: 'event', event: 'signed up' }, steps: [wait('first')] };
  write(folder, 'new.json', { name: 'New', definition });
  write(folder, 'none.json', { name: 'None', definition: { ...definition, entry: { type: 'event', event: 'left' } } });
  const file = join(folder, 'new.json');
  const test = (...args: string[]) => journeys(api, 'backtest', file, '--days', '7', ...args);
  const met = await test('--expect', 'contacts=1', '--expect', 'reached.first>=1');
  expect([met.status, met.err]).toEqual([0, ['']]);
  expect(met.out).toContain('  first: reached 1, waited 1');
  const compared = ['--against', join(folder, 'none.json')];
  const unmet = await test(...compared, '--expect', 'contacts<=110%');
  expect([unmet.status, unmet.out.at(-1)]).toEqual([1, 'FAILED: expected contacts<=110% (0), but it is 1']);
  expect((await test('--expect', 'nonsense')).status).toBe(2);
  expect((await test('--expect', 'times=0')).err.join()).toContain('use --against');
  write(folder, 'new.json', { name: 'New', definition: { ...definition, steps: [{ id: 'one', type: 'x' }] } });
  const invalid = await test();
  expect([invalid.status, invalid.err.join()]).toEqual([
    2,
    expect.stringContaining('candidate.definition.steps.0.type'),
  ]);
});
