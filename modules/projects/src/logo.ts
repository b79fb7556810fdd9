import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { config, db, invalid } from '@postroom/platform';

/** The largest logo, in bytes. */
const MAX_LOGO_BYTES = 200 * 1024;

/** The longest base64 of a logo, in characters. */
export const MAX_LOGO_LENGTH = Math.ceil(MAX_LOGO_BYTES / 3) * 4;

/** Below the path of unsubscribe pages, so that whatever leads to them leads to their logo. */
export const LOGO_PATH = '/u/logo/';

/** The address of a logo on the public origin. */
export const logoUrl = (hash: string): string => `${config.PUBLIC_URL}${LOGO_PATH}${hash}`;

/** The type of an image by its first bytes; `undefined` for anything but PNG, JPEG and WebP. SVG may contain scripts. */
function imageType(content: Buffer): string | undefined {
  if (content.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))) return 'image/png';
  if (content.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))) return 'image/jpeg';
  const isWebp = content.toString('latin1', 0, 4) === 'RIFF' && content.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'image/webp' : undefined;
}

/**
 * Sets or removes the logo of recipient-facing pages. `image` is base64.
 * @throws DomainError `validation_error` unless it is a PNG, JPEG or WebP image of at most 200 KB.
 */
export async function setLogo(projectId: string, image: string | null): Promise<void> {
  if (image === null) {
    await db.$transaction([
      db.projectLogo.deleteMany({ where: { projectId } }),
      db.project.update({ where: { id: projectId }, data: { logoHash: null } }),
    ]);
    return;
  }
  const content = Buffer.from(image, 'base64');
  if (content.length > MAX_LOGO_BYTES) throw invalid({ field: 'image', message: 'must be at most 200 KB' });
  const type = imageType(content);
  if (type === undefined) throw invalid({ field: 'image', message: 'must be a PNG, JPEG or WebP image' });
  const hash = createHash('sha256').update(content).digest('hex');
  const logo = { hash, type, content };
  await db.$transaction([
    db.projectLogo.upsert({ where: { projectId }, create: { projectId, ...logo }, update: logo }),
    db.project.update({ where: { id: projectId }, data: { logoHash: hash } }),
  ]);
}

/** Serves `/u/logo/{hash}` to anyone. The address follows from the content, so that it may be cached for ever. */
export async function serveLogo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '' } = request;
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
  const hash = url.split('?', 1)[0]?.slice(LOGO_PATH.length) ?? '';
  const logo = /^[0-9a-f]{64}$/.test(hash) ? await db.projectLogo.findFirst({ where: { hash } }) : null;
  if (logo === null) return void response.writeHead(404, { 'Cache-Control': 'no-store' }).end();
  response.writeHead(200, {
    'Content-Type': logo.type,
    'Content-Length': logo.content.length,
    // Opened by itself, it runs and loads nothing.
    'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'public, max-age=31536000, immutable',
  });
  response.end(method === 'HEAD' ? undefined : logo.content);
}
