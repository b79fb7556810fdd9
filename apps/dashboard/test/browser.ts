import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { config } from '@postroom/platform';
import { type Api, findBrowser, type Role, signedIn, type SignedIn } from '@postroom/testkit';
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';

const program = findBrowser();
const isBuilt = existsSync(join(import.meta.dirname, '../dist/index.html'));

/** Why these tests can't run here. */
const reason =
  program === undefined ? 'no Chromium here: set CHROMIUM_PATH' : isBuilt ? undefined : 'npm run build:dashboard first';
const note = reason === undefined ? '' : ` (${reason})`;

/** The longest wait for something to appear, for machines under load. Passing tests don't wait for it. */
const TIMEOUT_MS = 45_000;

/** A group of tests in a real browser; skipped, with the reason in its name, where there is none. */
export function inBrowser(name: string, tests: () => void): void {
  describe.skipIf(reason !== undefined)(`${name}${note}`, { timeout: 240_000 }, () => {
    tests();
  });
}

/** One browser per gateway, shared by all test files of this process, and closed with it. After one has crashed, the next test starts another. */
const browsers = new Map<string, Promise<Browser>>();

/** The sign-in library accepts requests only at the public address, so the browser resolves it to the gateway under test. */
function launch({ url }: Pick<Api, 'url'>): Promise<Browser> {
  const [from, to] = [new URL(config.PUBLIC_URL).host, new URL(url).host];
  const running = browsers.get(to);
  if (running !== undefined) return running;
  const browser = chromium.launch({
    executablePath: program ?? '',
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      // Without one, as on CI machines, drawing through an emulated GPU takes several times as long.
      '--disable-gpu',
      '--in-process-gpu',
      // Pages live for seconds: what compilers optimize, and threads collect, costs more than it saves.
      '--js-flags=--no-turbofan,--no-maglev,--single-threaded-gc',
      '--force-color-profile=srgb',
      '--font-render-hinting=none',
      `--host-resolver-rules=MAP ${from} ${to}`,
    ],
  });
  browsers.set(to, browser);
  const forget = () => void browsers.delete(to);
  browser.then((launched) => launched.once('disconnected', forget), forget);
  return browser;
}

/** A browser window that records everything that must never happen. */
export interface Window extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /** Content Security Policy violations, script and console errors, and requests to other hosts. */
  problems: string[];
  /** Opens a path of the project of `api` and waits for the page's heading. */
  open: (path: string) => Promise<void>;
}

/** What can't change once a window is open, so that tests with the same share windows one after another. */
interface Kind {
  url: string;
  origin: string;
  others: readonly string[];
  locale: string;
  prefetches: boolean;
  isTouch: boolean;
}

/** An open browser window, which tests use one after another: the second one finds the code of the dashboard compiled. */
interface Tab {
  page: Page;
  context: BrowserContext;
  problems: string[];
}

/** Windows that no test uses, by their kind. */
const idle = new Map<string, Tab[]>();

/** An idle window whose browser has not crashed. */
function takeIdle(key: string): Tab | undefined {
  const tabs = idle.get(key) ?? [];
  for (let tab = tabs.pop(); tab !== undefined; tab = tabs.pop()) if (isOpen(tab)) return tab;
  return undefined;
}

const isOpen = ({ page, context }: Pick<Tab, 'page' | 'context'>) =>
  !page.isClosed() && context.browser()?.isConnected() === true;

/**
 * Opens a window, signed in as `user`. Closing it fails the test if it has recorded problems. `origin` is for tests that start
 * their own system; `others` are origins the browser may visit, such as an identity provider. Only with `prefetches` does it fetch the
 * code of all pages ahead, as the browser does for users who did not ask it to save data. Files that an earlier test has loaded may come
 * from the cache, unless it `isFresh`. `isTouch` is for a phone: fingers are the pointer.
 */
export async function openWindow(
  api: Pick<Api, 'url' | 'projectId'>,
  user?: SignedIn,
  {
    width = 1280,
    height = 800,
    colorScheme = 'light' as 'light' | 'dark',
    locale = 'en-GB',
    origin = config.PUBLIC_URL,
    others = [] as readonly string[],
    prefetches = false,
    isTouch = false,
    isFresh = false,
  } = {},
): Promise<Window> {
  const kind = { url: api.url, origin, others, locale, prefetches, isTouch };
  const key = JSON.stringify(kind);
  const tab = (isFresh ? undefined : takeIdle(key)) ?? (await openTab(kind));
  const { page, context, problems } = tab;
  problems.length = 0;
  if (user !== undefined) await context.addCookies(cookiesOf(user.cookie));
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  return {
    page,
    context,
    problems,
    open: async (path) => {
      await page.goto(`/p/${api.projectId}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    [Symbol.asyncDispose]: async () => {
      const found = [...problems];
      if (isFresh || !(await forget(tab, origin))) await context.close();
      else
        onTestFinished(async ({ task }) => {
          // A failed test may have left something, such as requests that it holds.
          if (task.result?.state === 'fail') await context.close();
          else idle.set(key, [...(idle.get(key) ?? []), tab]);
        });
      expect(found).toEqual([]);
    },
  };
}

async function openTab({ url, origin, others, locale, prefetches, isTouch }: Kind): Promise<Tab> {
  const running = await launch({ url });
  const context = await running.newContext({
    baseURL: origin,
    locale,
    timezoneId: 'Europe/Berlin',
    hasTouch: isTouch,
    isMobile: isTouch,
  });
  const problems: string[] = [];
  await watch(context, problems, [origin, ...others]);
  if (!prefetches)
    await context.addInitScript({
      content: `if (navigator.connection) Object.defineProperty(navigator.connection, 'saveData', { value: true })`,
    });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  return { page, context, problems };
}

/** Leaves nothing of a test in its window. @returns false if that is not possible. */
async function forget({ page, context }: Tab, origin: string): Promise<boolean> {
  if (page.isClosed() || new URL(page.url()).origin !== origin) return false;
  for (const other of context.pages()) if (other !== page) await other.close();
  page.removeAllListeners();
  await Promise.all([page.unrouteAll({ behavior: 'ignoreErrors' }), context.unrouteAll({ behavior: 'ignoreErrors' })]);
  await Promise.all([context.setOffline(false), context.clearPermissions(), context.clearCookies()]);
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await page.mouse.move(-1, -1); // or what is under it later looks hovered
  await page.goto('about:blank');
  return true;
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

/** The cookies of a signed-in user, for a browser. */
export function cookiesOf(header: string) {
  return header.split('; ').map((cookie) => {
    const at = cookie.indexOf('=');
    return { name: cookie.slice(0, at), value: cookie.slice(at + 1), url: config.PUBLIC_URL };
  });
}

/** What the browser logs for expected error responses, for connections that a test closes, and for pages not loaded offline. */
const EXPECTED = /Failed to load resource|The page is not loaded yet|Unable to preload CSS/;

async function watch(context: BrowserContext, problems: string[], origins: readonly string[]): Promise<void> {
  await context.exposeFunction('recordViolation', (text: string) => problems.push(`policy: ${text}`));
  await context.addInitScript({
    content: `addEventListener('securitypolicyviolation', (event) =>
      recordViolation([event.violatedDirective, event.blockedURI, event.sourceFile, event.lineNumber, event.sample].join(' ')))`,
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

/** The rules of axe, of those for WCAG AA, whose result depends on the color scheme. */
const COLOR_RULES = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** What axe checks: by default the whole page by all rules. */
interface Extent {
  runOnly?: typeof COLOR_RULES;
  /** CSS selector. */
  within?: string;
}

/** The serious and critical accessibility violations that axe finds on the page, one per line. */
export async function accessibilityViolations(page: Page, { runOnly, within }: Extent = {}): Promise<string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(AXE);
  const options = JSON.stringify({
    resultTypes: ['violations'],
    // Controls of 24 pixels (WCAG 2.5.8), which axe does not check by itself.
    rules: { 'target-size': { enabled: true } },
    ...(runOnly && { runOnly }),
  });
  const { violations } = (await page.evaluate(
    `axe.run(${within === undefined ? 'document' : JSON.stringify(within)}, ${options})`,
  )) as { violations: Violation[] };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}

export const SCHEMES = ['light', 'dark'] as const;
export const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

const REVIEWS = [
  ['light', 'desktop'],
  ['dark', 'desktop'],
  ['dark', 'phone'],
  ['light', 'phone'],
] as const;

/**
 * Opens a page in both color schemes and sizes, and expects a title, one main heading, every control in reach of the
 * keyboard, no serious finding of axe, no horizontal scrolling, and no text below 13 pixels. Waits until the page shows `text`.
 * What is around the content is the same on all pages: its colors and its controls are reviewed on the first one.
 */
export async function expectAccessible(api: Api, user: SignedIn, path: string, text: string): Promise<void> {
  const { page, open, problems, isFirst } = await windowForReview(api, user);
  await page.setViewportSize(SIZES.desktop);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await open(path);
  await page.getByText(text).first().waitFor();
  await soon(() => page.locator('[aria-busy=true]').count()).toBe(0);
  expect(await page.title()).toMatch(/ · Postroom$/);
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
  const within = isFirst ? undefined : CONTENT;
  expect(await keyboardProblems(page, within), 'by keyboard').toEqual([]);
  // Changing the window's size costs most, so it changes once.
  for (const [colorScheme, name] of REVIEWS) {
    await page.setViewportSize(SIZES[name]);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await soon(() => page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe(colorScheme);
    // Chromium repaints what inherits its color a moment later.
    if (colorScheme !== 'light' || name !== 'desktop') await page.waitForTimeout(300);
    // What the header happens to cover is no smaller for that.
    await page.evaluate('scrollTo(0, 0)');
    await nextFrame(page);
    if (colorScheme === 'dark') {
      // The dark scheme changes colors, and neither structure nor layout.
      await soon(
        () => accessibilityViolations(page, { runOnly: COLOR_RULES, ...(within && { within }) }),
        `dark, ${name}`,
      ).toEqual([]);
      continue;
    }
    expect(await accessibilityViolations(page), `light, ${name}`).toEqual([]);
    expect(await scrollsHorizontally(page), `${name}: scrolls horizontally`).toBe(false);
    expect(await tinyText(page), `${name}: text below 13 pixels`).toEqual([]);
  }
  expect(problems.splice(0)).toEqual([]);
}

let review: { user: SignedIn; window: Window } | undefined;

/** One window for all pages that a user's tests review, so that the browser compiles the dashboard once. */
async function windowForReview(api: Api, user: SignedIn): Promise<Window & { isFirst: boolean }> {
  const isFirst = review?.user !== user || !isOpen(review.window);
  if (review === undefined || isFirst) {
    if (review !== undefined && isOpen(review.window)) await review.window[Symbol.asyncDispose]();
    review = { user, window: await openWindow(api, user, SIZES.desktop) };
  }
  review.window.problems.length = 0;
  return { ...review.window, isFirst };
}

const nextFrame = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');

/** Visible text smaller than 13 pixels, except in charts and pictures. */
const tinyText = (page: Page) =>
  page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      const isShown = textContent.trim() !== '' && parentElement.checkVisibility({ visibilityProperty: true });
      if (!isShown || parentElement.closest('svg, [aria-hidden=true], style, script') !== null) continue;
      const size = Number.parseFloat(getComputedStyle(parentElement).fontSize);
      if (size < 13) found.push(size + ' px: ' + textContent.trim().slice(0, 60));
    }
    return found;
  })()`);

export const scrollsHorizontally = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** One transparent pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/**
 * Holds the requests of a page to a URL, or those that `isHeld` selects.
 * @param url a glob pattern.
 * @returns a function that releases them.
 */
export async function holdRequests(
  page: Page,
  url: string,
  isHeld: (request: Request) => boolean = () => true,
): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    if (isHeld(route.request())) await released;
    await route.continue();
  });
  return release;
}

/**
 * Chooses an option of the open list by keyboard, by a part of its text. A list that is still opening, or was just filtered, forgets
 * what an arrow key marked.
 */
export async function chooseByKeyboard(page: Page, option: string): Promise<void> {
  const marked = page.locator('[data-combobox-selected]', { hasText: option });
  await soon(async () => {
    if ((await marked.count()) === 0) await page.keyboard.press('ArrowDown');
    return marked.count();
  }).toBe(1);
  await page.keyboard.press('Enter');
}

/** `expect.poll` with a timeout that allows for a slow machine. */
export const soon = <T>(value: () => T | Promise<T>, message?: string) =>
  expect.poll(value, { timeout: TIMEOUT_MS, ...(message !== undefined && { message }) });

/**
 * Problems for keyboard users, one per line: controls that the Tab key does not reach, reaches out of order, or reaches without a
 * visible focus. `within` selects the element to begin at, and to end with.
 */
async function keyboardProblems(page: Page, within = 'body'): Promise<string[]> {
  await page.evaluate(`${KEYBOARD}; walk.start(${JSON.stringify(within)})`);
  for (let stop = 0, place: unknown = 'on'; stop < MAX_TAB_STOPS && place !== 'end'; stop++) {
    // In the code editor Tab indents; Escape releases it.
    if (place === 'editor') await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    place = await page.evaluate('walk.arrive()');
  }
  return (await page.evaluate('walk.findings()')) as string[];
}

/** More than any page has; ends a walk that never reaches the end of its page. */
const MAX_TAB_STOPS = 400;

/** Where pages differ. */
const CONTENT = '#content';

/** Records the interactive elements and their unfocused styles, before the walk starts. */
const KEYBOARD = `globalThis.walk = (() => {
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
  const stops = [];
  const atRest = new Map();
  let root;
  const reached = [];
  const unseen = [];
  const groupOf = (element) => (element.type === 'radio' && element.name ? 'radio ' + element.name : element);
  const looksFocused = (element) => atRest.has(element) && look(element) !== atRest.get(element);
  return {
    start(within) {
      document.activeElement?.blur();
      getSelection()?.removeAllRanges();
      root = document.querySelector(within) ?? document.body;
      stops.push(...[...root.querySelectorAll(operable)].filter(isStop));
      for (const stop of stops) atRest.set(stop, look(stop));
      if (root !== document.body) root.focus();
    },
    async arrive() {
      // Some styles change a frame after the key press, and cross-origin frames take focus later.
      const hasArrived = () => document.activeElement !== reached.at(-1) && looksFocused(document.activeElement);
      for (let frame = 0; frame < 3 && !hasArrived(); frame++) await new Promise(requestAnimationFrame);
      const { activeElement: element } = document;
      if (element === null || element === document.body || !root.contains(element)) return 'end';
      if (reached.length > 1 && element === reached[0]) return 'end';
      const place = element.closest('.cm-editor') === null ? 'on' : 'editor';
      if (element === reached.at(-1)) return place;
      reached.push(element);
      if (atRest.has(element) && element.tagName !== 'IFRAME' && !looksFocused(element)) unseen.push(name(element));
      return place;
    },
    findings() {
      const groups = new Set(reached.map(groupOf));
      const missed = stops.filter((stop) => stop.isConnected && isStop(stop) && !groups.has(groupOf(stop)));
      const back = reached.filter((stop, at) => at > 0 && (reached[at - 1].compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_PRECEDING) !== 0);
      return [
        ...missed.map((stop) => 'not reached: ' + name(stop)),
        ...back.map((stop) => 'out of order: ' + name(stop)),
        ...unseen.map((stop) => 'no visible focus: ' + stop),
      ];
    },
  };
})()`;
