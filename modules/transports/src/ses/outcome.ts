import { cleanLine } from '@postroom/platform';
import { classify, hostDeferred, type SendOutcome } from '@postroom/smtp';
import { IncompleteRequest } from './requests.ts';

/** The parts of an SDK error that we use. */
interface ServiceError extends Error {
  $metadata?: { httpStatusCode?: number };
}

/**
 * Maps a SendEmail error to an outcome. Errors from SES itself are classified by the same rules as SMTP replies. A request
 * that was written without a response may have been accepted; SES has no idempotency key, so it must not be retried.
 */
export function outcomeOfError(error: unknown): SendOutcome {
  if (error instanceof IncompleteRequest) {
    return error.written ? { kind: 'unknown', answer: cleanLine(error.message) } : hostDeferred(error.message);
  }
  const { name, message, $metadata } = error as ServiceError;
  const status = $metadata?.httpStatusCode;
  const answer = cleanLine(`${name}: ${message}`);
  // Without a status no request was sent: it could not be signed, or the region doesn't exist.
  if (status === undefined) return { kind: 'refused', answer, verdict: 'configuration', stop: 'account' };
  const { verdict, waitMs, stop } = classify(answer);
  if (verdict === 'throttle') return { kind: 'deferred', answer, waitMs, scope: 'host', stop };
  // SES may have failed after accepting the message.
  if (status >= 500 || status < 400) return { kind: 'unknown', answer };
  switch (verdict) {
    case 'configuration':
    case 'content':
    case 'policy':
    case 'hard_bounce':
    case 'soft_bounce':
      return { kind: 'refused', answer, verdict, stop };
    default:
      return { kind: 'refused', answer, verdict: 'other', stop };
  }
}
