import { addToBody, parseTemplate, renderTemplate, type Template, type Values } from '@postroom/templates/render';
import { compileMessage, compositionError, type CompiledMessage } from '@postroom/mime';
import { messageIdOf, parseMailbox, textTemplateOf } from '@postroom/emails';
import { trackHtml, type TrackingSwitches } from '@postroom/tracking';
import { unsubscribeUrl } from '@postroom/unsubscribe';
import type { Prisma } from '@postroom/platform';

/** The fields of a campaign that its messages are composed from. */
export type CampaignContent = Pick<
  Prisma.CampaignModel,
  'projectId' | 'subject' | 'fromName' | 'fromEmail' | 'replyTo' | 'html' | 'text'
>;

/** The recipient that a message is rendered for. */
interface Addressee {
  /** The message's id. */
  id: string;
  email: string;
  name: string | null;
  customFields: Record<string, unknown> | null;
}

const UNTRACKED: CampaignTracking = { opens: false, clicks: false, base: '' };

/** Added to content without an unsubscribe link, so that every recipient can unsubscribe. */
const FOOTER = `<p style="margin:2em 0 0;font-size:12px;color:#777"><a href="{{unsubscribe_url}}" style="color:#777">Unsubscribe</a></p>`;
const TEXT_FOOTER = '\n\n--\nUnsubscribe: {{unsubscribe_url}}\n';

/** Placeholder names that are not custom fields. */
const BUILT_IN = new Set(['name', 'email', 'unsubscribe_url']);

/** The tracking switches, and the base URL of tracked links. */
export interface CampaignTracking extends TrackingSwitches {
  base: string;
}

/** A campaign's message, encoded once and rendered per recipient. */
export interface CampaignFrame {
  frame: CompiledMessage;
  /** The address it is sent from. */
  from: string;
  /** Whether a placeholder names a custom field, so that claims must load custom fields. */
  needsCustomFields: boolean;
  /** Target URLs of its tracked links, indexed by position. */
  links: string[];
  /** Renders one recipient's message. `subject` is undefined if it is the same for all recipients. */
  render: (addressee: Addressee, date: Date) => { data: string; subject: string | undefined };
}

/**
 * Encodes a campaign's message once.
 * @throws MessageError if it cannot be sent, for example because of a placeholder in an unsafe position or an invalid sender.
 */
export async function compileCampaign(content: CampaignContent, tracking = UNTRACKED): Promise<CampaignFrame> {
  try {
    return await compile(content, tracking);
  } catch (error) {
    throw compositionError(error);
  }
}

async function compile(content: CampaignContent, tracking: CampaignTracking): Promise<CampaignFrame> {
  const fromEmail = content.fromEmail ?? '';
  const [subject, html, text] = templatesOf(content);
  const replyTo = content.replyTo === null ? undefined : parseMailbox(content.replyTo);
  // The text part shows link targets, so it is derived from the untracked HTML. Throws if the HTML is too complex.
  const textTemplate = text ?? (await textTemplateOf(content.projectId, html));
  const tracked = trackHtml(html, tracking, tracking.base);
  const frame = compileMessage({
    from: { email: fromEmail, name: content.fromName },
    ...(typeof replyTo === 'object' ? { replyTo } : {}),
    subject,
    html: tracked.html,
    text: textTemplate,
  });
  const names = [frame.subject, html, frame.text].flatMap(({ variables }) => variables.map(({ name }) => name));
  return {
    frame,
    from: fromEmail,
    needsCustomFields: names.some((name) => !BUILT_IN.has(name)),
    links: tracked.links,
    render: composing((addressee: Addressee, date: Date) => {
      const values = valuesOf(content.projectId, addressee);
      const data = frame.render({
        to: { email: addressee.email, name: addressee.name },
        messageId: messageIdOf(addressee.id, fromEmail),
        date,
        values: tracked.valuesFor(addressee.id, values),
        unsubscribe: { url: values.unsubscribe_url },
      });
      return { data, subject: subject.variables.length === 0 ? undefined : renderTemplate(subject, values) };
    }),
  };
}

/** Turns any error during rendering into a MessageError, which fails only that message. */
function composing<Args extends unknown[], Result>(make: (...args: Args) => Result): (...args: Args) => Result {
  return (...args) => {
    try {
      return make(...args);
    } catch (error) {
      throw compositionError(error);
    }
  };
}

/** The subject, HTML and text of a campaign as templates; adds an unsubscribe link where the body has none. */
export function templatesOf({ subject, html, text }: CampaignContent): [Template, Template, Template | undefined] {
  return [
    parseTemplate(subject ?? '', 'subject'),
    parseTemplate(withFooter(html ?? ''), 'html'),
    text === null || text === '' ? undefined : parseTemplate(withTextFooter(text), 'text'),
  ];
}

function valuesOf(
  projectId: string,
  { id, email, name, customFields }: Addressee,
): Values & { unsubscribe_url: string } {
  const url = unsubscribeUrl(id, { projectId, email });
  return { ...(customFields as Values | null), name: name ?? '', email, unsubscribe_url: url };
}

const hasLink = (source: string) => /\{\{\s*unsubscribe_url\b/.test(source);

function withFooter(html: string): string {
  return hasLink(html) ? html : addToBody(html, FOOTER);
}

function withTextFooter(text: string): string {
  return hasLink(text) ? text : text + TEXT_FOOTER;
}
