import { config } from '@postroom/platform';
import { ledgerPool } from '@postroom/ledger';
import { senderOf } from '@postroom/transports';
import type { TrackingSwitches } from './track-html.ts';

/** What a campaign or message says of it; null is as the project has it. */
export interface OwnSwitches {
  opens: boolean | null;
  clicks: boolean | null;
}

/** What is tracked of mail from an address, and what its links begin with. */
export async function readTracking(
  projectId: string,
  fromEmail: string,
  own: OwnSwitches,
): Promise<TrackingSwitches & { base: string }> {
  const base = await trackingBase(projectId, fromEmail);
  if (own.opens !== null && own.clicks !== null) return { opens: own.opens, clicks: own.clicks, base };
  const { rows } = await ledgerPool.query<TrackingSwitches>({
    name: 'tracking-switches',
    text: 'SELECT track_opens AS opens, track_clicks AS clicks FROM projects WHERE id = $1',
    values: [projectId],
  });
  const project = rows[0] ?? { opens: false, clicks: false };
  return { opens: own.opens ?? project.opens, clicks: own.clicks ?? project.clicks, base };
}

/** The sender's own tracking domain, which is served over https, or else where the gateway is reached. */
async function trackingBase(projectId: string, fromEmail: string): Promise<string> {
  const { trackingDomain } = await senderOf(projectId, fromEmail);
  return trackingDomain === undefined ? config.PUBLIC_URL : `https://${trackingDomain}`;
}
