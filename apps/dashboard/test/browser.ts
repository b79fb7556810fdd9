import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { config } from '@postroom/platform';
import { type Api, findBrowser, type Role, signedIn, type SignedIn } from '@postroom/testkit';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { describe, expect } from 'vitest';

const program = findBrowser();
const isBuilt = existsSync(join(import.meta.dirname, '../dist/index.html'));

/** Why these tests can't run here. */
const reason =
  program === undefined ? 'no Chromium here: set CHROMIUM_PATH' : isBuilt ? undefined : 'npm run build:dashboard first';
const note = reason === undefined ? '' : ` (${reason})`;

/** How long something may take to show on a machine that does other work as well; nothing waits for it when all is well. */
const PATIENCE_MS = 45_000;

/** A group of tests in a real browser; skipped, with the reason in its name, where there is none. */
export function inBrowser(name: string, tests: () => void): void {
  describe.skipIf(reason !== undefined)(`${name}${note}`, { timeout: 240_000 }, () => {
    tests();
  });
}

/** One for each gateway, for all files of this process; they end with it. */
const browsers = new Map<string, Promise<Browser>>();

/** The sign-in library takes requests from the public address only, so the browser finds the gateway under test there. */
function launch({ url }: Pick<Api, 'url'>): Promise<Browser> {
  const [from, to] = [new URL(config.PUBLIC_URL).host, new URL(url).host];
  const running = browsers.get(to);
  if (running !== undefined) return running;
  const browser = chromium.launch({
    executablePath: program ?? '',
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--force-color-profile=srgb',
      '--font-render-hinting=none',
      `--host-resolver-rules=MAP ${from} ${to}`,
    ],
  });
  browsers.set(to, browser);
  return browser;
}

/** A browser window in which everything that must never happen is noted. */
export interface Window extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /** Violations of the policy, errors of scripts and of the console, requests to other hosts. */
  problems: string[];
  /** Goes to a path of the project of `api`, and waits until the page shows its heading. */
  open: (path: string) => Promise<void>;
}

/**
 * Opens a window, signed in as `person`; it fails the test on closing when anything was noted. `origin` is that of a system
 * of the test's own; `others` are servers that people are sent to on purpose, such as one to sign in at.
 */
export async function openWindow(
  api: Pick<Api, 'url' | 'projectId'>,
  person?: SignedIn,
  {
    width = 1280,
    height = 800,
    colorScheme = 'light' as 'light' | 'dark',
    origin = config.PUBLIC_URL,
    others = [] as readonly string[],
  } = {},
): Promise<Window> {
  const running = await launch(api);
  const context = await running.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  if (person !== undefined) await context.addCookies(cookiesOf(person.cookie));
  const problems: string[] = [];
  await watch(context, problems, [origin, ...others]);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  return {
    page,
    context,
    problems,
    open: async (path) => {
      await page.goto(`/p/${api.projectId}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    [Symbol.asyncDispose]: async () => {
      await context.close();
      expect(problems).toEqual([]);
    },
  };
}

/** A user with a role in the project, in a separate window. */
export async function windowOf(
  api: Api,
  role: Role = 'owner',
  options?: Parameters<typeof openWindow>[2],
): Promise<Window & { person: SignedIn }> {
  const person = await signedIn(api, role);
  return Object.assign(await openWindow(api, person, options), { person });
}

function cookiesOf(header: string) {
  return header.split('; ').map((cookie) => {
    const at = cookie.indexOf('=');
    return { name: cookie.slice(0, at), value: cookie.slice(at + 1), url: config.PUBLIC_URL };
  });
}

/** What the browser itself says of answers that were meant to be refusals, or of a connection that a test cuts. */
const EXPECTED = /Failed to load resource/;

async function watch(context: BrowserContext, problems: string[], origins: readonly string[]): Promise<void> {
  await context.exposeFunction('noteViolation', (text: string) => problems.push(`policy: ${text}`));
  await context.addInitScript({
    content: `addEventListener('securitypolicyviolation', (event) =>
      noteViolation([event.violatedDirective, event.blockedURI, event.sourceFile, event.lineNumber, event.sample].join(' ')))`,
  });
  context.on('weberror', (error) => problems.push(`error: ${error.error().stack}`));
  context.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED.test(message.text())) problems.push(`console: ${message.text()}`);
  });
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (!['data:', 'blob:'].includes(url.protocol) && !origins.includes(url.origin))
      problems.push(`another host: ${request.url()}`);
  });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe finds serious or critical on a page as it is now, a line each. */
export async function seriousFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(AXE);
  const { violations } = (await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })`)) as {
    violations: Violation[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}

/** Expects something to become so, however slow the machine is. */
export const soon = <T>(value: () => T | Promise<T>) => expect.poll(value, { timeout: PATIENCE_MS });

/**
 * Problems for keyboard users, one per line: controls that the Tab key does not reach, reaches out of order, or reaches without a
 * visible focus.
 */
export async function keyboardFindings(page: Page): Promise<string[]> {
  await page.evaluate(KEYBOARD);
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    // In the editor of code Tab indents; Escape lets go of it.
    if (await page.evaluate('walk.isInEditor()')) await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    if ((await page.evaluate('walk.arrive()')) === 'end') break;
  }
  return (await page.evaluate('walk.findings()')) as string[];
}

/** More than any page has; a walk that does not come to the end of its page ends here. */
const MOST_STOPS = 400;

/** Marks what can be operated and how it looks at rest, before the walk begins at the top. */
const KEYBOARD = `globalThis.walk = (() => {
  document.activeElement?.blur();
  getSelection()?.removeAllRanges();
  const operable = 'a[href], button, input, select, textarea, summary, iframe, [tabindex], [contenteditable=true]';
  const isStop = (element) =>
    element.tabIndex >= 0 && !element.disabled && element.type !== 'hidden' &&
    element.checkVisibility({ visibilityProperty: true }) && element.closest('[inert], [aria-hidden=true]') === null;
  const name = (element) =>
    element.tagName.toLowerCase() + ' "' + (element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent).trim().slice(0, 60) + '"' +
    (element.name ? ' ' + element.name : '');
  const styles = (element, pseudo) => {
    const s = getComputedStyle(element, pseudo);
    return [s.outlineStyle, s.outlineWidth, s.outlineColor, s.boxShadow, s.borderColor, s.backgroundColor].join();
  };
  const around = (element) => [element.closest('.cm-editor'), element.parentElement?.parentElement, element.parentElement?.parentElement?.parentElement];
  const look = (element) =>
    [element, element.parentElement, element.nextElementSibling, element.previousElementSibling, ...around(element)]
      .filter((each) => each != null).map((each) => styles(each)).concat(styles(element, '::after')).join(' | ');
  const stops = [...document.querySelectorAll(operable)].filter(isStop);
  const atRest = new Map(stops.map((stop) => [stop, look(stop)]));
  const reached = [];
  const unseen = [];
  const groupOf = (element) => (element.type === 'radio' && element.name ? 'radio ' + element.name : element);
  return {
    isInEditor: () => document.activeElement?.closest('.cm-editor') !== null,
    async arrive() {
      // Colours change in a frame after the one in which the key is pressed, and a frame of another origin is entered later.
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
      const { activeElement: element } = document;
      if (element === null || element === document.body || (reached.length > 1 && element === reached[0])) return 'end';
      if (element === reached.at(-1)) return 'inside';
      reached.push(element);
      if (atRest.has(element) && element.tagName !== 'IFRAME' && look(element) === atRest.get(element)) unseen.push(name(element));
      return 'on';
    },
    findings() {
      const groups = new Set(reached.map(groupOf));
      const missed = stops.filter((stop) => stop.isConnected && isStop(stop) && !groups.has(groupOf(stop)));
      const back = reached.filter((stop, at) => at > 0 && (reached[at - 1].compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_PRECEDING) !== 0);
      return [
        ...missed.map((stop) => 'not reached: ' + name(stop)),
        ...back.map((stop) => 'out of order: ' + name(stop)),
        ...unseen.map((stop) => 'focus not seen: ' + stop),
      ];
    },
  };
})()`;
