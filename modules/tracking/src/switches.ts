import { config } from '@postroom/platform';
import { ledgerPool } from '@postroom/ledger';
import { senderOf } from '@postroom/transports';
import type { TrackingSwitches } from './track-html.ts';

/** The tracking settings of a campaign or message; null uses the project's setting. */
export interface OwnSwitches {
  opens: boolean | null;
  clicks: boolean | null;
}

/** The effective tracking settings for mail from an address, and the base URL of its tracked links. */
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

/** The sender's tracking domain (always https), or else the public URL of the gateway. */
async function trackingBase(projectId: string, fromEmail: string): Promise<string> {
  const { trackingDomain } = await senderOf(projectId, fromEmail);
  return trackingDomain === undefined ? config.PUBLIC_URL : `https://${trackingDomain}`;
}
