import { literalTemplate, renderTemplate } from '@postroom/templating';
import { type OwnSwitches, readTracking, trackHtml } from '@postroom/tracking';
import { readContents } from './compose-email.ts';
import { parseMailbox } from './mailbox.ts';

/** What is tracked in an email, and the base URL of its tracked links. @param from its sender, as a mailbox. */
export function trackingOfEmail(projectId: string, from: string, own: OwnSwitches): ReturnType<typeof readTracking> {
  const mailbox = parseMailbox(from);
  return readTracking(projectId, typeof mailbox === 'string' ? '' : mailbox.email, own);
}

/** Renders the HTML of an email to one recipient, with its tracked links; undefined if it has none, or its content has been deleted. */
export async function webVersionOfEmail(projectId: string, messageId: string): Promise<string | undefined> {
  const content = (await readContents([messageId])).get(messageId);
  if (content === undefined || content.html === null) return undefined;
  const own = { opens: content.track_opens, clicks: content.track_clicks };
  const tracking = await trackingOfEmail(projectId, content.from, own);
  const { html, valuesFor } = trackHtml(literalTemplate('html', content.html), tracking, tracking.base);
  return renderTemplate(html, valuesFor(messageId, {}));
}
