import type { IncomingMessage, ServerResponse } from 'node:http';
import { handleSignIn } from '@postroom/auth';
import { readBody } from '@postroom/platform';
import { answerError } from './rest/http.ts';

/** An address, a password and a code are short. */
const MAX_BODY_BYTES = 32 * 1024;

/** Handles `/app/auth/*`. Reads the body first, because the sign-in library would buffer a body of any size. */
export async function serveSignIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = await readBody(request, MAX_BODY_BYTES);
    await handleSignIn(request, response, body);
  } catch (error) {
    answerError(response, error);
  }
}
