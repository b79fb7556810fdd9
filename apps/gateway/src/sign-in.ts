import type { IncomingMessage, ServerResponse } from 'node:http';
import { handleSignIn } from '@postroom/auth';
import { answerError, readBody } from './rest/http.ts';

/** An address, a password and a code are short. */
const MAX_BODY_BYTES = 32 * 1024;

/** Answers `/app/auth/*`. The sign-in library would keep a body of any size in memory, so it is given one that has been read. */
export async function answerSignIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = await readBody(request, MAX_BODY_BYTES);
    await handleSignIn(request, response, body);
  } catch (error) {
    if (!request.complete) response.setHeader('Connection', 'close');
    answerError(response, error);
  }
}
