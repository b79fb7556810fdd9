import type { Address, Attachment, Email } from '@postroom/mime/parse';
import type { Mail } from '@postroom/emails/inbox';

/** A mail as the API returns it. */
export function mailJson(mail: Mail, email: Email) {
  return {
    ...mail,
    from: addresses(email.from === undefined ? [] : [email.from]),
    to: addresses(email.to),
    cc: addresses(email.cc),
    replyTo: addresses(email.replyTo),
    date: email.date ?? null,
    html: email.html ?? null,
    text: email.text ?? null,
    headers: email.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    attachments: email.attachments.map(attachmentJson),
  };
}

/** Flattens address groups, because users look for the actual recipients. */
function addresses(list: readonly Address[] = []): { name: string; address: string }[] {
  return list.flatMap((entry) => entry.group ?? [entry]).map(({ name, address }) => ({ name, address }));
}

function attachmentJson({ filename, mimeType, disposition, contentId, content }: Attachment, index: number) {
  return { index, filename, mimeType, disposition, contentId: contentId ?? null, size: bytesOf(content).length };
}

/** An attachment's content as bytes. */
export function bytesOf(content: Attachment['content']): Buffer {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof Uint8Array
    ? Buffer.from(content.buffer, content.byteOffset, content.byteLength)
    : Buffer.from(content);
}

/** The mail's HTML for a frame: links open outside it, and inline images are embedded. */
export function renderFrame({ html = '', attachments }: Email): string {
  const images = new Map(attachments.map((part) => [part.contentId?.replace(/^<|>$/g, ''), part]));
  const withImages = html.replace(/\bcid:([^"'\s)>]+)/gi, (reference, id: string) => {
    const image = images.get(id) ?? images.get(decode(id));
    return image === undefined
      ? reference
      : `data:${image.mimeType};base64,${bytesOf(image.content).toString('base64')}`;
  });
  const base = '<base target="_blank">';
  // Before the doctype it would cause quirks mode, so insert it after the first of these.
  const tag = [/<head[\s>]/i, /<html[\s>]/i, /<!doctype[\s>]/i]
    .map((pattern) => withImages.search(pattern))
    .find((index) => index !== -1);
  const place = tag === undefined ? 0 : withImages.indexOf('>', tag) + 1;
  return withImages.slice(0, place) + base + withImages.slice(place);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
