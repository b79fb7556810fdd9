import {
  addToBody,
  addToBodyStart,
  bindValues,
  blankComments,
  escapeHtml,
  parseTemplate,
  renderForRecipient,
  renderSubject,
  type Template,
  type TemplateFormat,
  unconditionalSource,
  type Values,
  variablesOf,
} from '@postroom/templating';
import { compileMessage, compositionError, type CompiledMessage, MessageError } from '@postroom/mime';
import { EMPTY_SUBJECT, messageIdOf, parseMailbox, textTemplateOf } from '@postroom/emails';
import { postalAddressOf } from '@postroom/projects';
import { addUtm, trackHtml, type TrackingSwitches } from '@postroom/tracking';
import { unsubscribeUrl, webVersionUrl } from '@postroom/unsubscribe';
import type { Prisma } from '@postroom/platform';

/** The fields of a campaign that its messages are composed from. */
export type CampaignContent = CampaignFields & {
  /** The project's, on one line; null if it has none. */
  postalAddress: string | null;
};

type CampaignFields = Pick<
  Prisma.CampaignModel,
  | 'projectId'
  | 'subject'
  | 'previewText'
  | 'fromName'
  | 'fromEmail'
  | 'replyTo'
  | 'html'
  | 'text'
  | 'utmSource'
  | 'utmMedium'
  | 'utmCampaign'
  | 'utmTerm'
  | 'utmContent'
>;

/** The content of a campaign, with what the project adds to it. */
export async function contentOf<Fields extends CampaignFields>(
  campaign: Fields,
): Promise<Fields & { postalAddress: string | null }> {
  return { ...campaign, postalAddress: await postalAddressOf(campaign.projectId) };
}

/** The recipient that a message is rendered for. */
export interface Addressee {
  /** The message's id. */
  id: string;
  email: string;
  name: string | null;
  customFields: Record<string, unknown> | null;
}

const UNTRACKED: CampaignTracking = { opens: false, clicks: false, base: '' };

/** Placeholder names that are not custom fields. */
const BUILT_IN = new Set(['name', 'email', 'unsubscribe_url', 'view_in_browser_url', 'postal_address']);

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
  const { subject, html, text } = templatesOf(content);
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
    isTextGenerated: text === undefined,
  });
  const names = [frame.subject, html, frame.text].flatMap(variablesOf);
  return {
    frame,
    from: fromEmail,
    needsCustomFields: names.some((name) => !BUILT_IN.has(name)),
    links: tracked.links,
    render: withCompositionErrors((addressee: Addressee, date: Date) => {
      const values = valuesOf(content, addressee);
      const shown = subject.slots.length === 0 ? undefined : renderSubject(subject, values);
      if (shown?.trim() === '') throw new MessageError('subject', EMPTY_SUBJECT);
      const data = frame.render({
        to: { email: addressee.email, name: addressee.name },
        messageId: messageIdOf(addressee.id, fromEmail),
        date,
        values: tracked.valuesFor(addressee.id, values),
        unsubscribe: { url: values.unsubscribe_url },
      });
      return { data, subject: shown };
    }),
  };
}

/** Prepares the web version of a campaign's messages: their HTML, with the same tracked links. */
export function compileWebVersion(content: CampaignContent, tracking: CampaignTracking) {
  const { html, valuesFor } = trackHtml(templatesOf(content).html, tracking, tracking.base);
  return withCompositionErrors((addressee: Addressee) =>
    renderForRecipient(html, valuesFor(addressee.id, valuesOf(content, addressee))),
  );
}

/** Turns any error of `make` into a MessageError, which fails only that message. */
function withCompositionErrors<Args extends unknown[], Result>(
  make: (...args: Args) => Result,
): (...args: Args) => Result {
  return (...args) => {
    try {
      return make(...args);
    } catch (error) {
      throw compositionError(error);
    }
  };
}

/** What a campaign's message is rendered from. */
interface CampaignTemplates {
  subject: Template;
  html: Template;
  /** Undefined if it is derived from the HTML. */
  text: Template | undefined;
}

/**
 * The subject, HTML and text of a campaign as templates, with the preview text, the footer and UTM parameters. Adds an
 * unsubscribe link and the project's postal address where the body has none.
 */
export function templatesOf(content: CampaignContent): CampaignTemplates {
  const { postalAddress: address } = content;
  const parse = (source: string, format: TemplateFormat) =>
    bindValues(parseTemplate(source, format), { postal_address: address });
  const utm = {
    utm_source: content.utmSource,
    utm_medium: content.utmMedium,
    utm_campaign: content.utmCampaign,
    utm_term: content.utmTerm,
    utm_content: content.utmContent,
  };
  const { previewText, text } = content;
  const body = withFooter(content.html ?? '', address);
  return {
    subject: parse(content.subject ?? '', 'subject'),
    html: addUtm(parse(previewText === null ? body : withPreview(body, previewText), 'html'), utm),
    text: text === null || text === '' ? undefined : parse(withTextFooter(text, address), 'text'),
  };
}

function valuesOf(
  { projectId, postalAddress }: CampaignContent,
  { id, email, name, customFields }: Addressee,
): Values & { unsubscribe_url: string } {
  const url = unsubscribeUrl(id, { projectId, email });
  return {
    ...(customFields as Values | null),
    name,
    email,
    unsubscribe_url: url,
    view_in_browser_url: webVersionUrl(url),
    postal_address: postalAddress,
  };
}

/** Keeps the beginning of the body out of the preview that mail programs show after the subject. */
const PREVIEW_END = '&#847;&zwnj;&nbsp;'.repeat(50);

/**
 * Adds the preview text as the first text of the body. It is hidden, so generated text leaves it out. Its placeholders are read as in
 * the body.
 */
function withPreview(html: string, previewText: string): string {
  const style = 'display:none;max-height:0;overflow:hidden;mso-hide:all';
  return addToBodyStart(html, `<div style="${style}">${escapeHtml(previewText)}${PREVIEW_END}</div>`);
}

const UNSUBSCRIBE = '<a href="{{unsubscribe_url}}" style="color:#777">Unsubscribe</a>';

/** Whether a source has a placeholder, as `{{name}}`, `{{- name }}`, or with the spaces that editors insert. */
const hasPlaceholder = (source: string, name: string) =>
  new RegExp(String.raw`\{\{-?(?:\s|&nbsp;)*${name}\b`).test(source);

/** Whether the content shows the postal address, by its placeholder or written out. */
const hasAddress = (source: string, address: string) =>
  hasPlaceholder(source, 'postal_address') || source.includes(address) || source.includes(escapeHtml(address));

/** The parts of a source that every recipient sees: without those in conditions and comments. */
function alwaysShown(source: string, format: TemplateFormat): string {
  const always = source.includes('{%') ? unconditionalSource(parseTemplate(source, format)) : source;
  return format === 'html' ? blankComments(always) : always;
}

/** The postal address and the unsubscribe link, unless the content shows them. */
const missingFooterLines = (shown: string, address: string | null, unsubscribe: string): string[] => [
  ...(address === null || hasAddress(shown, address) ? [] : ['{{postal_address}}']),
  ...(hasPlaceholder(shown, 'unsubscribe_url') ? [] : [unsubscribe]),
];

/** Adds an unsubscribe link and the postal address to HTML where it has none. */
export function withFooter(html: string, address: string | null): string {
  const lines = missingFooterLines(alwaysShown(html, 'html'), address, UNSUBSCRIBE);
  if (lines.length === 0) return html;
  const footer = `<p style="margin:2em 0 0;font-size:12px;color:#777">${lines.join('<br>')}</p>`;
  const inBody = addToBody(html, footer);
  // The end of the body itself may be in a condition or comment.
  return alwaysShown(inBody, 'html').includes(footer) ? inBody : html + footer;
}

function withTextFooter(text: string, address: string | null): string {
  const lines = missingFooterLines(alwaysShown(text, 'text'), address, 'Unsubscribe: {{unsubscribe_url}}');
  return lines.length === 0 ? text : `${text}\n\n--\n${lines.join('\n')}\n`;
}
