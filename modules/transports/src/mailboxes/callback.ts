import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Caller, db, DomainError, STATUS_BY_CODE } from '@postroom/platform';
import { escapeHtml } from '@postroom/templating';
import { answerPage } from '@postroom/unsubscribe';
import { testMailbox } from './mailboxes.ts';
import { finishAuthorization } from './authorization.ts';

/** Handles the OAuth2 redirect from a mailbox provider. `user` is the signed-in user, if any. */
export async function handleMailboxCallback(
  request: IncomingMessage,
  response: ServerResponse,
  user: Pick<Caller, 'id' | 'may'> | undefined,
): Promise<void> {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (request.method !== 'GET') {
    response.setHeader('Allow', 'GET');
    return answerPage(response, 405, 'Method not allowed', '<p>Use GET.</p>');
  }
  if (user === undefined) {
    return answerPage(
      response,
      401,
      'Sign in first',
      '<p>Sign in to Postroom in this browser and connect the account again.</p>',
    );
  }
  try {
    const { id, projectId, email } = await finishAuthorization(
      {
        state: searchParams.get('state') ?? '',
        code: searchParams.get('code') ?? undefined,
        error: searchParams.get('error') ?? undefined,
      },
      user,
    );
    await testMailbox(projectId, id);
    const { status, statusReason } = await db.mailboxAccount.findUniqueOrThrow({ where: { id } });
    if (status === 'connected') {
      return answerPage(
        response,
        200,
        'Connected',
        `<p>Mail from <b>${escapeHtml(email)}</b> is now sent through its own server. You can close this page.</p>`,
      );
    }
    answerPage(
      response,
      200,
      'Not connected yet',
      `<p>Access was granted, but the mail server of <b>${escapeHtml(email)}</b> replied:</p><p>${escapeHtml(statusReason ?? '')}</p>`,
    );
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    answerPage(
      response,
      STATUS_BY_CODE[error.code],
      'Connection failed',
      `<p>${escapeHtml(error.message)}</p><p>Please connect the account again.</p>`,
    );
  }
}
