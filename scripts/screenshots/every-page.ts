import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Postroom } from '../../sdk/typescript/src/index.ts';
import type { System } from '../demo/system.ts';
import { launchBrowser, nextPaint, settled, signIn } from './browser.ts';
import type { Stage } from './stage.ts';

const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
const SCHEMES = ['light', 'dark'] as const;

/** A problem of a page: an axe violation, text that is cut off, or horizontal scrolling. */
export interface PageProblem {
  picture: string;
  problem: string;
}

/**
 * Takes a full-page screenshot of every page of the dashboard, at two widths and in both color schemes, into a folder.
 * Returns the problems that a program can see; the pictures are for people to look at.
 */
export async function takeEveryPage(
  system: System,
  postroom: Postroom,
  stage: Stage,
  folder: string,
): Promise<PageProblem[]> {
  await mkdir(folder, { recursive: true });
  const browser = await launchBrowser();
  try {
    const ids = await moreStates(browser, system, postroom, stage);
    const problems: PageProblem[] = [];
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const colorScheme of SCHEMES) {
        const look = { viewport, colorScheme, reducedMotion: 'reduce', locale: 'en-GB' } as const;
        const take = async (context: BrowserContext, pages: Record<string, string>) => {
          const page = await context.newPage();
          for (const [name, url] of Object.entries(pages)) {
            const picture = `${name}-${size}-${colorScheme}.png`;
            await page.goto(url);
            await page.getByRole('heading', { level: 1 }).first().waitFor();
            await settled(page);
            for (const problem of await problemsOf(page)) problems.push({ picture, problem });
            // A frame outside of the window may be blank in a full-page screenshot.
            const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
            await page.setViewportSize({ ...viewport, height });
            await nextPaint(page);
            await page.screenshot({ path: join(folder, picture), animations: 'disabled' });
            await page.setViewportSize(viewport);
          }
          await page.close();
        };
        const visitor = await browser.newContext(look);
        await take(visitor, publicPages(system, ids));
        await visitor.close();
        const member = await browser.newContext(look);
        await signIn(member, system);
        await take(member, projectPages(system, stage, ids));
        await member.close();
      }
    }
    return problems;
  } finally {
    await browser.close();
  }
}

/** Records in states that the scenario does not reach. */
interface MoreIds {
  draft: string;
  scheduled: string;
  canceled: string;
  journey: string;
  /** What contacts did: conditions on email, events and journeys. */
  segmentByBehavior: string;
  unsubscribeUrl: string;
}

function publicPages({ url }: System, { unsubscribeUrl }: MoreIds): Record<string, string> {
  return {
    'sign-in': `${url}/sign-in`,
    'reset-password': `${url}/reset-password`,
    'new-password': `${url}/reset-password?token=x`,
    invitation: `${url}/invitation?token=x`,
    unsubscribe: unsubscribeUrl,
    'not-found': `${url}/nope`,
  };
}

function projectPages({ url, projects }: System, stage: Stage, ids: MoreIds): Record<string, string> {
  const paths = {
    home: '?period=24h',
    campaigns: '/campaigns',
    'campaign-draft': `/campaigns/${ids.draft}`,
    'campaign-scheduled': `/campaigns/${ids.scheduled}`,
    'campaign-running': `/campaigns/${stage.running}`,
    'campaign-canceled': `/campaigns/${ids.canceled}`,
    'campaign-report': `/campaigns/${stage.campaign}`,
    recipients: `/campaigns/${stage.campaign}/recipients`,
    journeys: '/journeys',
    journey: `/journeys/${ids.journey}`,
    templates: '/templates',
    template: `/templates/${stage.template}`,
    'template-versions': `/templates/${stage.template}/versions`,
    emails: '/emails',
    email: `/emails/${stage.email}`,
    contacts: '/contacts',
    contact: `/contacts/${stage.contact}`,
    imports: '/imports',
    'new-import': '/imports/new',
    import: `/imports/${stage.import}`,
    groups: '/groups',
    segments: '/segments',
    segment: `/segments/${stage.segment}`,
    'segment-by-behavior': `/segments/${ids.segmentByBehavior}`,
    'new-segment': '/segments/new',
    fields: '/fields',
    events: '/events',
    event: `/events/${stage.event}`,
    suppressions: '/suppressions',
    domains: '/domains',
    domain: '/domains/mail.acme.example',
    sending: '/sending',
    mailboxes: '/mailboxes',
    webhooks: '/webhooks',
    'new-endpoint': '/webhooks/new',
    endpoint: `/webhooks/${stage.endpoint}`,
    'edit-endpoint': `/webhooks/${stage.endpoint}/edit`,
    delivery: `/webhooks/${stage.endpoint}/deliveries/${stage.delivery}`,
    keys: '/keys',
    members: '/members',
    project: '/settings',
    audit: '/audit',
    account: '/account',
    'no-such-page': '/no-such-page',
    'no-such-contact': '/contacts/ctc_00000000000000000000000000',
  };
  const project = `${url}/p/${projects[0]?.id}`;
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, project + path]));
}

/** A draft that lacks its template. */
const THANK_YOU = {
  entry: { type: 'event', event: 'order placed' },
  steps: [
    { id: 'two_weeks', type: 'wait', for: { days: 14 }, next: 'review' },
    { id: 'review', type: 'send' },
  ],
};

const buyers = ({ campaign }: Stage, journey: string) => ({
  and: [
    {
      field: 'event',
      op: 'inLast',
      value: 30,
      event: 'order placed',
      times: 2,
      where: [{ property: 'total', op: 'atLeast', value: 20 }],
    },
    { field: 'event', op: 'firstBefore', value: new Date().toISOString(), event: 'order placed' },
    {
      or: [
        { field: 'sent', op: 'ever', campaignId: campaign },
        { field: 'clicked', op: 'inLast', value: 90, campaignId: campaign, url: 'https://postroom.example/welcome' },
      ],
    },
    { not: { field: 'everInJourney', op: 'is', value: journey } },
  ],
});

async function moreStates(browser: Browser, system: System, postroom: Postroom, stage: Stage): Promise<MoreIds> {
  const campaign = async (name: string) =>
    (await postroom.campaigns.create({ name, subject: 'A subject', from_email: 'hello@demo.postroom.example' })).id;
  const draft = await campaign(
    'A draft with a name that is rather long, as names of campaigns are when people copy them',
  );
  const groups = await postroom.groups.list().toArray(1);
  const ready = async (name: string) => {
    const id = await campaign(name);
    await postroom.campaigns.update(id, {
      group_ids: groups.map((group) => group.id),
      html: '<p>Hello {{unsubscribe_url}}</p>',
    });
    return id;
  };
  const scheduled = await ready('Christmas offers');
  const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString();
  await postroom.campaigns.schedule(scheduled, { scheduled_at: inAMonth });
  const canceled = await ready('Canceled');
  await postroom.campaigns.update(canceled, { rate_per_second: 1 });
  await postroom.campaigns.send(canceled);
  await postroom.campaigns.cancel(canceled);
  const context = await browser.newContext();
  await signIn(context, system);
  const run = async (query: string) => {
    const answer = await context.request.post(`${system.url}/graphql`, {
      headers: { 'X-Project-Id': system.projects[0]?.id ?? '', Origin: system.url },
      data: { query },
    });
    const { errors } = (await answer.json()) as { errors?: object[] };
    if (errors !== undefined) throw new Error(`${query}: ${JSON.stringify(errors)}`);
  };
  await run('mutation { addDomain(input: { domain: "mail.acme.example" }) { id } }');
  await run('mutation { invite(input: { email: "grace@example.com", role: viewer }) { id } }');
  await run(`mutation { connectMailbox(input: { email: "support@example.net", provider: other, signIn: password,
    host: "127.0.0.1", port: 9, password: "p" }) { account { id } } }`);
  await context.close();
  const journey = (await postroom.journeys.create({ name: 'Thank you', definition: THANK_YOU })).id;
  const segmentByBehavior = (await postroom.segments.create({ name: 'Buyers', filter: buyers(stage, journey) })).id;
  const unsubscribeUrl = await unsubscribeUrlOf(system);
  return { draft, scheduled, canceled, journey, segmentByBehavior, unsubscribeUrl };
}

/** The unsubscribe link of a mail in the inbox. */
async function unsubscribeUrlOf({ inboxUrl }: System): Promise<string> {
  const list = (await (await fetch(`${inboxUrl}/api/mails?search=new%20this%20autumn&limit=1`)).json()) as {
    data: { id: string }[];
  };
  const mail = await (await fetch(`${inboxUrl}/api/mails/${list.data[0]?.id}`)).text();
  const url = /https?:[^"'<>\\ ]*\/u\/[^"'<>\\ ]+/.exec(mail)?.[0];
  if (url === undefined) throw new Error('No mail in the inbox has an unsubscribe link.');
  return url;
}

let axe: string | undefined;

/** What is wrong with a page, as far as a program can tell. */
async function problemsOf(page: Page): Promise<string[]> {
  axe ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  const violations = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, impact, nodes }) => nodes.map(({ html }) => impact + ' ' + id + ': ' + html.slice(0, 160))))`);
  const layout = await page.evaluate(`(() => {
    const found = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) found.push('scrolls horizontally: ' + scrollWidth + ' > ' + clientWidth);
    for (const element of document.querySelectorAll('button, h1, h2, th, td, label, p, a')) {
      const { overflow, textOverflow } = getComputedStyle(element);
      const isCut = element.scrollWidth > element.clientWidth + 1 && overflow !== 'visible' && textOverflow !== 'ellipsis';
      const isShown = element.clientWidth > 1 && element.checkVisibility({ visibilityProperty: true });
      if (isCut && isShown) found.push('cut off: ' + element.textContent.slice(0, 60));
    }
    return found;
  })()`);
  return [...(violations as string[]), ...(layout as string[])];
}
