import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'postroom');
const INSTALL_TIMEOUT_MS = 240_000;
/** Builds older than this are removed, in milliseconds; another clone may be running newer ones. */
const KEPT_MS = 86_400_000;

/**
 * The folder of a tool for tests, installed in the user's cache on first use. `undefined`, with a message, if it can't
 * be installed.
 */
async function tool(name: string, install: (folder: string) => Promise<unknown>): Promise<string | undefined> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  try {
    console.log(`Installing ${name} in ${folder} ...`);
    mkdirSync(unfinished, { recursive: true });
    await install(unfinished);
    renameSync(unfinished, folder);
    return folder;
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (existsSync(folder)) return folder;
    console.warn(`${name} could not be installed: ${(error as Error).message.split('\n').slice(0, 3).join(' ')}`);
    return undefined;
  }
}

/**
 * The folder of what `build` makes of the inputs that `hash` stands for, kept in the user's cache until they change.
 * A failed build leaves nothing.
 */
export async function built(name: string, hash: string, build: (folder: string) => Promise<unknown>): Promise<string> {
  const kept = join(CACHE, 'openapi-clients', name);
  const folder = join(kept, hash);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  try {
    mkdirSync(unfinished, { recursive: true });
    await build(unfinished);
    for (const other of readdirSync(kept).map((each) => join(kept, each)))
      if (statSync(other).mtimeMs < Date.now() - KEPT_MS) rmSync(other, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // another run has built it meanwhile
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

const timeout = INSTALL_TIMEOUT_MS;

/** The npm generators and linters, with the dependencies of their output. */
export const npmTools = () =>
  tool('openapi-npm-1', async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const packages = [
      'orval@8.30.0',
      '@hey-api/openapi-ts@0.99.0',
      'openapi-typescript@7.13.0',
      'openapi-fetch@0.17.0',
      'axios@1.21.1',
      'typescript@5.9.3',
      '@types/node@24.10.1',
      '@stoplight/spectral-cli@6.16.3',
      '@redocly/cli@2.77.0',
    ];
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps'];
    await run('npm', ['install', ...flags, ...packages], { cwd: folder, timeout });
  });

/** openapi-python-client, with the dependencies of its clients and openapi-generator's. */
export const pythonTools = () =>
  tool('openapi-python-1', async (folder) => {
    await run('python3', ['-m', 'venv', folder], { timeout });
    const packages = [
      'openapi-python-client==0.29.1',
      'urllib3==2.8.0',
      'pydantic==2.14.3',
      'python-dateutil==2.9.0.post0',
    ];
    const flags = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    await run(join(folder, 'bin/python'), [...flags, ...packages], { timeout });
  });

/** openapi-generator as `openapi-generator-cli.jar`, with the dependencies of its Java clients in `lib`. */
export const javaTools = () =>
  tool('openapi-java-1', async (folder) => {
    await run('javac', ['-version']);
    const dependencies = [
      'com.squareup.okhttp3:okhttp:4.12.0',
      'com.squareup.okhttp3:logging-interceptor:4.12.0',
      'com.google.code.gson:gson:2.10.1',
      'io.gsonfire:gson-fire:1.9.0',
      'org.apache.commons:commons-lang3:3.18.0',
      'jakarta.annotation:jakarta.annotation-api:1.3.5',
      'jakarta.ws.rs:jakarta.ws.rs-api:2.1.6',
      'org.openapitools:jackson-databind-nullable:0.2.11',
      'com.google.code.findbugs:jsr305:3.0.2',
      'com.fasterxml.jackson.core:jackson-databind:2.21.5',
      'com.fasterxml.jackson.datatype:jackson-datatype-jsr310:2.21.5',
      'org.apache.httpcomponents:httpmime:4.5.14',
    ].map((each) => {
      const [group, artifact, version] = each.split(':');
      return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
    });
    writeFileSync(
      join(folder, 'pom.xml'),
      `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>postroom</groupId><artifactId>clients</artifactId><version>1</version><dependencies>${dependencies.join('')}</dependencies></project>`,
    );
    const maven = (...args: string[]) => run('mvn', ['-q', '-B', ...args], { cwd: folder, timeout });
    await maven('dependency:copy-dependencies', '-DoutputDirectory=lib');
    const generator = '-Dartifact=org.openapitools:openapi-generator-cli:7.25.0';
    await maven('dependency:copy', generator, '-DoutputDirectory=.', '-Dmdep.stripVersion=true');
  });

/** oapi-codegen, as `oapi-codegen`. */
export const goTools = () =>
  tool('openapi-go-1', (folder) =>
    run('go', ['install', 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'], {
      env: { ...process.env, GOBIN: folder },
      timeout,
    }),
  );

/** PHP with Guzzle, from system packages. */
export const GUZZLE = '/usr/share/php/GuzzleHttp/autoload.php';
export async function phpTools(): Promise<string | undefined> {
  const found = await run('php', ['-r', `require '${GUZZLE}'; new GuzzleHttp\\Client(); mb_strlen('');`]).catch(
    () => undefined,
  );
  if (found === undefined)
    console.warn('PHP with Guzzle is not installed (Debian: php-cli php-curl php-mbstring php-guzzlehttp-guzzle).');
  return found && 'php';
}
