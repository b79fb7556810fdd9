import { type Attachment, buildMessage, compileMessage, type Mailbox, MessageError, wireAddress } from '@postroom/mime';
import { ledgerPool } from '@postroom/ledger';
import { databaseTime, normalizeDomain } from '@postroom/platform';
import { literalTemplate, renderTemplate } from '@postroom/templating';
import type { TrackedHtml } from '@postroom/tracking';
import type { OutgoingMessage } from '@postroom/transports';
import { unsubscribeUrl } from '@postroom/unsubscribe';
import { textTemplateOf } from './fill-content-for-project.ts';
import { parseMailbox } from './mailbox.ts';

/** What an email says, for all of its recipients. */
export interface Content {
  message_id: string;
  from: string;
  to: string[];
  cc: string[];
  reply_to: string[];
  html: string | null;
  text: string | null;
  /** Generated from the HTML when the email was accepted. */
  html_text: string | null;
  headers: Record<string, string>;
  track_opens: boolean | null;
  track_clicks: boolean | null;
  /** Whether it has attachments. */
  has_attachments: boolean;
}

/** A message of an email that is about to be sent. */
interface MessageToSend {
  id: string;
  project_id: string;
  content_id: string;
  email: string;
  subject: string;
  needs_consent: boolean;
  /** The HTML with tracked links; undefined if there is no HTML. */
  tracked: TrackedHtml | undefined;
}

/** The contents of emails, by the ids of their messages. */
export async function readContents(ids: readonly string[]): Promise<Map<string, Content>> {
  const { rows } = await ledgerPool.query<Content>({
    name: 'emails-contents',
    text: `SELECT message_id, "from", "to", cc, reply_to, html, text, html_text, headers, track_opens, track_clicks,
             EXISTS (SELECT FROM message_attachments a WHERE a.message_id = c.message_id) AS has_attachments
           FROM message_contents c WHERE message_id = ANY ($1)`,
    values: [ids],
  });
  return new Map(rows.map((content) => [content.message_id, content]));
}

/** An attachment or an alternative body. */
export type Part = Attachment & { alternative: boolean; beforeHtml: boolean };

export async function readAttachments(messageId: string): Promise<Part[]> {
  const { rows } = await ledgerPool.query<{
    filename: string;
    content: Buffer;
    content_type: string | null;
    content_id: string | null;
    alternative: boolean;
    before_html: boolean;
  }>({
    name: 'emails-attachments',
    text: `SELECT filename, content, content_type, content_id, alternative, position < 0 AS before_html FROM message_attachments
           WHERE message_id = $1 ORDER BY position`,
    values: [messageId],
  });
  return rows.map(({ filename, content, content_type, content_id, alternative, before_html }) => ({
    filename,
    alternative,
    beforeHtml: before_html,
    content,
    contentType: content_type ?? undefined,
    contentId: content_id ?? undefined,
  }));
}

type Composed = OutgoingMessage & { signAs: string };

/**
 * Composes the MIME message. Recipients get the same message, with the same Message-ID, except for their tracked links and how addresses
 * beyond ASCII are shown.
 */
export async function compose(row: MessageToSend, content: Content, parts: Part[]): Promise<Composed> {
  const from = mailbox(content.from);
  const to = content.to.map(mailbox);
  const cc = content.cc.map(mailbox);
  const replyTo = content.reply_to.map(mailbox);
  const messageId = messageIdOf(row.content_id, from.email);
  const envelope = { id: row.id, signAs: from.email, from: from.email, to: row.email };
  const [onlyTo, ...others] = to;
  const isPlain = onlyTo !== undefined && others.length + cc.length + parts.length === 0 && replyTo.length <= 1;
  const { tracked } = row;
  const own = tracked?.valuesFor(row.id, {}) ?? {};
  const asciiOnly = !wireAddress(row.email, 'to').utf8;
  if (isPlain && content.html !== null && tracked !== undefined) {
    const { headers } = content;
    const compiled = compileMessage({
      from,
      replyTo: replyTo[0],
      subject: literalTemplate('subject', row.subject),
      html: tracked.html,
      text: literalTemplate('text', await textOf(row.project_id, content)),
      headers,
    });
    return {
      ...envelope,
      data: compiled.render({
        to: onlyTo,
        asciiOnly,
        messageId,
        date: databaseTime(),
        values: own,
        unsubscribe: row.needs_consent
          ? { url: unsubscribeUrl(row.id, { projectId: row.project_id, email: row.email }) }
          : undefined,
      }),
      stuffed: true,
    };
  }
  const { headers } = content;
  const data = await buildMessage({
    messageId,
    date: databaseTime(),
    from,
    to,
    cc,
    replyTo,
    asciiOnly,
    subject: row.subject,
    html: tracked === undefined ? undefined : renderTemplate(tracked.html, own),
    text: await textOf(row.project_id, content),
    headers,
    attachments: parts.filter(({ alternative }) => !alternative),
    alternatives: parts
      .filter(({ alternative }) => alternative)
      .map(({ contentType = 'text/plain', content: bytes, beforeHtml }) => ({
        contentType,
        content: bytes,
        beforeHtml,
      })),
  });
  return { ...envelope, data };
}

/** The text body. It is generated here only for emails accepted before text was generated at acceptance. */
async function textOf(projectId: string, { text, html, html_text: htmlText }: Content): Promise<string> {
  const known = text ?? htmlText;
  if (known !== null) return known;
  if (html === null) throw new MessageError('html', 'A message needs HTML or text.');
  return renderTemplate(await textTemplateOf(projectId, literalTemplate('html', html)), {});
}

/** Derived from the row id, so that a message keeps one Message-ID and reports can be matched to their row. */
export function messageIdOf(id: string, fromEmail: string): string {
  const domain = fromEmail.slice(fromEmail.lastIndexOf('@') + 1);
  return `${id}@${normalizeDomain(domain) || domain}`;
}

function mailbox(text: string): Mailbox {
  const read = parseMailbox(text);
  if (typeof read === 'string') throw new Error(`Stored address is invalid: it ${read}.`);
  return read;
}
