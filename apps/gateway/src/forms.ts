import type { IncomingMessage, ServerResponse } from 'node:http';
import { handleForm } from '@postroom/forms';
import { clientAddress, readBody } from '@postroom/platform';
import { answerError } from './rest/http.ts';

/** A form asks for an address and a few values. */
const MAX_BODY_BYTES = 64 * 1024;

/** Handles `/f/*`, the public pages of forms. */
export async function serveForm(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  try {
    const { method = 'GET', headers } = request;
    const body = await readBody(request, MAX_BODY_BYTES);
    const { origin, accept, 'content-type': contentType } = headers;
    await handleForm({ method, path, body, contentType, accept, origin, address: clientAddress(request) }, response);
  } catch (error) {
    answerError(response, error);
  }
}
