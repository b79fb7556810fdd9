import { classify, hostDeferred, oneLine, type SendOutcome } from '@postroom/smtp';
import { CutRequest } from './requests.ts';

/** What an error of the SDK tells. */
interface ServiceError extends Error {
  $metadata?: { httpStatusCode?: number };
}

/**
 * What an error of SendEmail means for the message. An error with a name of SES's own is its word, read by the table that
 * reads the replies of mail servers. A request that was written and has no such answer may have been taken: there is no key
 * that would make SES recognise it, so it must not be sent again.
 */
export function outcomeOfError(error: unknown): SendOutcome {
  if (error instanceof CutRequest) {
    return error.written ? { kind: 'unknown', answer: oneLine(error.message) } : hostDeferred(error.message);
  }
  const { name, message, $metadata } = error as ServiceError;
  const status = $metadata?.httpStatusCode;
  const answer = oneLine(`${name}: ${message}`);
  // Without a status nothing was asked: a signature that can't be made, a region that there is not.
  if (status === undefined) return { kind: 'refused', answer, verdict: 'configuration', stop: 'account' };
  const { verdict, waitMs, stop } = classify(answer);
  if (verdict === 'throttle') return { kind: 'deferred', answer, waitMs, scope: 'host', stop };
  // What went wrong inside SES, it may have done after it took the message.
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
