import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  audit,
  DomainError,
  invalid,
  compressionProblem,
  pool,
  type Reply,
  type StreamExchange,
} from '@postroom/platform';
import { addPart, createImport, discardUpload, MAX_FILE_BYTES, startImport, fileTooLarge } from './imports.ts';
import { checkOptions, type ImportOptions } from './options.ts';
import { incompleteBody, readMultipart } from './multipart.ts';
import { splitIntoParts } from './parts.ts';

/** Maximum overhead of a multipart body around the file, in bytes. */
const ENVELOPE_BYTES = 1024 * 1024;

/**
 * Receives a file and starts its import. The file is stored in parts as it arrives, and the 202 response is sent only
 * once it is complete, so an accepted file is never lost. With an `Idempotency-Key`, the same file and options start
 * one import.
 */
export async function uploadImport(exchange: StreamExchange): Promise<Reply> {
  const { projectId, caller, request } = exchange;
  if (Number(request.headers['content-length'] ?? 0) > MAX_FILE_BYTES + ENVELOPE_BYTES) throw fileTooLarge();
  const read = readerFor(request);
  const { id } = await createImport(projectId, await checkOptions(projectId, exchange.options), caller.id);
  let isStarted = false;
  try {
    const digest = createHash('sha256');
    const options = await read(exchange, async (file) => {
      let number = 0;
      for await (const part of splitIntoParts(file)) {
        digest.update(part);
        await addPart(projectId, id, number++, part);
      }
    });
    const checked = await checkOptions(projectId, options);
    digest.update(JSON.stringify(checked));
    return await exchange.once(digest.digest(), async () => {
      await startImport(projectId, id, checked);
      isStarted = true;
      await audit(pool, { projectId, actorId: caller.id, action: 'startImport', targetId: id });
      return { status: 202, body: { data: { id, status: 'queued' } } };
    });
  } finally {
    if (!isStarted) await discardUpload(projectId, id);
  }
}

/** Streams the file to its receiver, and returns the options when the whole body has arrived. */
type ReadBody = (
  exchange: StreamExchange,
  takeFile: (file: AsyncIterable<Uint8Array>) => Promise<void>,
) => Promise<ImportOptions>;

/** @throws DomainError `unsupported_media_type`. */
function readerFor(request: StreamExchange['request']): ReadBody {
  const compressed = compressionProblem(request);
  if (compressed !== undefined) throw compressed;
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';').map((part) => part.trim());
  if (type.toLowerCase() === 'multipart/form-data') return readForm;
  if (/^text\/(csv|tab-separated-values)$/i.test(type)) return readText(parameters);
  throw new DomainError(
    'unsupported_media_type',
    'Send the file as multipart/form-data, in a part called file, or as a body of type text/csv.',
  );
}

const readForm: ReadBody = async ({ request, options: inQuery, readOptions }, takeFile) => {
  let fileName: string | undefined;
  const fields = await readMultipart(request, (file: Readable, name) => {
    fileName = name?.replaceAll('%22', '"'); // as forms escape a quote (HTML, "multipart/form-data")
    return takeFile(file as AsyncIterable<Uint8Array>);
  });
  for (const field of fields.keys()) {
    if (field !== 'options') throw invalid({ field, message: 'is not a known part; use file and options' });
  }
  const inForm = readOptions(parse(fields.get('options') ?? '{}'));
  return { ...(fileName !== undefined && { fileName }), ...inQuery, ...inForm };
};

function parse(options: string): unknown {
  try {
    return JSON.parse(options);
  } catch (error) {
    throw invalid({ field: 'options', message: `is not valid JSON: ${(error as Error).message}` });
  }
}

/** Reads a body that is the file itself; its content type may declare the encoding. */
const readText =
  (parameters: readonly string[]): ReadBody =>
  async ({ request, options }, takeFile) => {
    await takeFile(request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>).catch(
      (error: unknown) => {
        throw request.destroyed && !request.complete ? incompleteBody() : error;
      },
    );
    const [charset] = parameters.flatMap((each) => /^charset="?([^"]+)"?$/i.exec(each)?.[1] ?? []);
    return { ...(charset !== undefined && { encoding: charset }), ...options };
  };
