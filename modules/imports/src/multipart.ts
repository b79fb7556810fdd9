import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { DomainError, invalid } from '@postroom/platform';

/** Maximum size of each part other than the file, in bytes; options are a few lines of JSON. */
const MAX_FIELD_BYTES = 256 * 1024;

/**
 * Reads a `multipart/form-data` body with a part called `file` in constant memory, streaming it to `takeFile`. Returns
 * the other parts as text; they may come before or after the file.
 * @throws DomainError `validation_error` for a malformed body or one without a file; whatever `takeFile` throws.
 */
export async function readMultipart(
  request: IncomingMessage,
  takeFile: (file: Readable, name: string | undefined) => Promise<void>,
): Promise<Map<string, string>> {
  const form = open(request);
  const fields = new Map<string, string>();
  let file: Promise<void> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      form.on('file', (_field, stream, name) => {
        if (file !== undefined) return reject(invalid({ field: 'file', message: 'must be provided only once' }));
        file = takeFile(stream, name);
        file.catch(reject);
      });
      form.on('field', (name, value, _nameTruncated, isTruncated) => {
        if (isTruncated) reject(invalid({ field: name, message: `may have at most ${MAX_FIELD_BYTES} bytes` }));
        fields.set(name, value);
      });
      form.once('finish', resolve);
      form.once('error', (error: Error) => reject(malformed(error)));
      request.once('close', () => {
        if (!request.complete) reject(incompleteBody());
      });
      request.pipe(form);
    });
    await file;
  } catch (error) {
    // Don't destroy the request, so that it can still be responded to.
    request.unpipe(form);
    throw error;
  }
  if (file === undefined) throw invalid({ field: 'file', message: 'is required' });
  return fields;
}

function open(request: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
      isPartAFile: (name) => name === 'file',
      limits: { fieldSize: MAX_FIELD_BYTES, fields: 10, parts: 12 },
    });
  } catch (error) {
    throw malformed(error as Error);
  }
}

/** The client disconnected, so nobody receives this error. */
export const incompleteBody = () => new DomainError('validation_error', 'The request body ended prematurely.');

const malformed = ({ message }: Error) =>
  new DomainError('validation_error', `The body is not well-formed multipart/form-data: ${message}.`);
