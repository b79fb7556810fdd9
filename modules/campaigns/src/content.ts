import { addToBody, parseTemplate, renderTemplate, type Template, type Values } from '@postroom/templates/render';
import { compileMessage, compositionError, type CompiledMessage } from '@postroom/mime';
import { messageIdOf, parseMailbox, textTemplateOf } from '@postroom/emails';
import { trackHtml, type TrackingSwitches } from '@postroom/tracking';
import { unsubscribeUrl } from '@postroom/unsubscribe';
import type { Prisma } from '@postroom/platform';

/** What of a campaign its messages are made of. */
export type CampaignContent = Pick<
  Prisma.CampaignModel,
  'projectId' | 'subject' | 'fromName' | 'fromEmail' | 'replyTo' | 'html' | 'text'
>;

/** The person that a message is made for. */
export interface Addressee {
  /** The message's id. */
  id: string;
  email: string;
  name: string | null;
  customFields: Record<string, unknown> | null;
}

const UNTRACKED: CampaignTracking = { opens: false, clicks: false, base: '' };

/** Every recipient can unsubscribe, whether or not the author thought of it. */
const FOOTER = `<p style="margin:2em 0 0;font-size:12px;color:#777"><a href="{{unsubscribe_url}}" style="color:#777">Unsubscribe</a></p>`;
const TEXT_FOOTER = '\n\n--\nUnsubscribe: {{unsubscribe_url}}\n';

/** What placeholders may name beside custom fields. */
const BUILT_IN = new Set(['name', 'email', 'unsubscribe_url']);

/** What of a campaign's messages is tracked, and what their links begin with. */
export interface CampaignTracking extends TrackingSwitches {
  base: string;
}

/** A campaign's message, encoded once, and what it needs of each recipient. */
export interface CampaignFrame {
  frame: CompiledMessage;
  /** The address it is sent from. */
  from: string;
  /** Whether a placeholder names a custom field, so that they have to be read. */
  needsCustomFields: boolean;
  /** Where its tracked links lead, by their numbers. */
  links: string[];
  /** The bytes for one recipient, and the subject where it is not the same for all. */
  render: (addressee: Addressee, date: Date) => { data: string; subject: string | undefined };
}

/**
 * Encodes a campaign's message once.
 * @throws MessageError when it can't be sent: a placeholder in a place that no value is safe at, a sender that is none.
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
  // Text shows people where a link leads, so it is made of the HTML as its author wrote it. HTML that is too complex ends here.
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

/** What goes wrong while a message is made is a reason to fail that message. */
function composing<Args extends unknown[], Result>(make: (...args: Args) => Result): (...args: Args) => Result {
  return (...args) => {
    try {
      return make(...args);
    } catch (error) {
      throw compositionError(error);
    }
  };
}

/** The subject, HTML and text of a campaign as templates, with a link to unsubscribe by. */
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
