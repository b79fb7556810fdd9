import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Caller, db, DomainError, STATUS_BY_CODE } from '@postroom/platform';
import { escapeHtml } from '@postroom/templates/render';
import { answerPage } from '@postroom/unsubscribe';
import { testMailbox } from './mailboxes.ts';
import { finishAuthorization } from './authorization.ts';

/**
 * Answers the page that mailbox providers send people back to. `person` is who is signed in here.
 */
export async function handleMailboxCallback(
  request: IncomingMessage,
  response: ServerResponse,
  person: Pick<Caller, 'id' | 'may'> | undefined,
): Promise<void> {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (request.method !== 'GET') {
    response.setHeader('Allow', 'GET');
    return answerPage(response, 405, 'This does not work', '<p>This page is only looked at.</p>');
  }
  if (person === undefined) {
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
      person,
    );
    await testMailbox(projectId, id);
    const { status, statusReason } = await db.mailboxAccount.findUniqueOrThrow({ where: { id } });
    if (status === 'connected') {
      return answerPage(
        response,
        200,
        'Connected',
        `<p>Mail from <b>${escapeHtml(email)}</b> goes out by its own server now. You can close this page.</p>`,
      );
    }
    answerPage(
      response,
      200,
      'Not connected yet',
      `<p>The consent was given, but the mail server of <b>${escapeHtml(email)}</b> says:</p><p>${escapeHtml(statusReason ?? '')}</p>`,
    );
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    answerPage(
      response,
      STATUS_BY_CODE[error.code],
      'This did not work',
      `<p>${escapeHtml(error.message)}</p><p>Please connect the account again.</p>`,
    );
  }
}
