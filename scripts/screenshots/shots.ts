import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { System } from '../demo/system.ts';
import { launchBrowser, settled, signIn } from './browser.ts';
import type { Stage } from './stage.ts';

interface Picture {
  name: string;
  kilobytes: number;
}

/** Everyone who opens the README loads these images. */
const LARGEST_KILOBYTES = 300;
const WINDOW = { width: 1280, height: 800 };

/** Takes every screenshot of the docs, as PNG files. @throws if one is too large for a page. */
export async function takePictures(system: System, stage: Stage, folder: string): Promise<Picture[]> {
  const browser = await launchBrowser();
  try {
    const context = await browser.newContext({ viewport: WINDOW, reducedMotion: 'reduce', locale: 'en-GB' });
    const taken: Picture[] = [];
    const take = async (name: string, page: Page) => {
      const path = join(folder, `${name}.png`);
      await page.screenshot({ path, animations: 'disabled' });
      const kilobytes = Math.ceil(statSync(path).size / 1000);
      if (kilobytes > LARGEST_KILOBYTES)
        throw new Error(`${name}.png is ${kilobytes} kB; the maximum is ${LARGEST_KILOBYTES} kB.`);
      taken.push({ name: `${name}.png`, kilobytes });
    };
    await dashboard(context, system, stage, take);
    await inbox(context, system, take);
    await temporal(context, system, stage, take);
    return taken;
  } finally {
    await browser.close();
  }
}

type Take = (name: string, page: Page) => Promise<void>;

async function dashboard(context: BrowserContext, system: System, stage: Stage, take: Take): Promise<void> {
  await signIn(context, system);
  const page = await context.newPage();
  const project = `${system.url}/p/${system.projects[0]?.id}`;
  const show = async (path: string) => {
    await page.goto(project + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled(page);
  };
  await show(`/campaigns/${stage.running}`);
  await take('campaign-running', page);
  await show('?period=24h');
  await take('home', page);
  await show(`/campaigns/${stage.campaign}`);
  await take('campaign-report', page);
  await show(`/contacts/${stage.contact}`);
  await take('contact', page);
  await show(`/webhooks/${stage.endpoint}/deliveries/${stage.delivery}`);
  await take('delivery', page);
  await page.close();
}

async function inbox(context: BrowserContext, { inboxUrl }: System, take: Take): Promise<void> {
  const page = await context.newPage();
  await page.goto(inboxUrl);
  await page
    .getByText(/^Your week/)
    .first()
    .click();
  await settled(page);
  await take('inbox', page);
  await page.close();
}

async function temporal(context: BrowserContext, { temporalUiUrl }: System, stage: Stage, take: Take): Promise<void> {
  if (temporalUiUrl === null) throw new Error('The system has no Temporal UI.');
  const page = await context.newPage();
  const workflows = `${temporalUiUrl}/namespaces/default/workflows`;
  await page.goto(`${workflows}/${stage.campaign}`);
  await page.getByText('sendCampaign').first().waitFor();
  await settled(page);
  await take('campaign-workflow', page);
  await page.goto(`${workflows}?query=${encodeURIComponent(`endpointId="${stage.endpoint}"`)}`);
  await page.getByText(stage.delivery).first().waitFor();
  await settled(page);
  await take('deliveries-in-temporal', page);
  await page.goto(`${workflows}/${stage.delivery}`);
  await page.getByText('deliverWebhook').first().waitFor();
  await settled(page);
  await take('delivery-in-temporal', page);
  await page.close();
}
