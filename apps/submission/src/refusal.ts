import { cleanLine, databaseAnswerOf, DomainError, hasCode, logger, restPath, RetryLater } from '@postroom/platform';
import { Refusal } from '@postroom/network/smtp-server';

/** The code of smtp-server for a connection that closed before the end of a message. */
const CLIENT_GONE = 'ECONNECTION';

/** Maps an error to an SMTP reply. Internal errors are temporary failures, so clients retry. */
export function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  const answer = databaseAnswerOf(thrown);
  const error = answer instanceof RetryLater ? answer : thrown;
  if (error === answer) logger.warn({ err: thrown }, 'message not accepted');
  if (!(error instanceof DomainError)) {
    if (hasCode(error, CLIENT_GONE)) logger.debug({ err: error }, 'client disconnected within its message');
    else logger.error({ err: error }, 'message submission failed');
    return new Refusal(451, '4.3.0 Temporary server error; try again later');
  }
  // Fields are named as in `/v1`. A mail split into several emails reports the same problems for each.
  const problems = [...new Set(error.details.map(({ field, message }) => `${restPath(field)} ${message}`))].join('; ');
  if (error.code === 'unauthorized') return new Refusal(535, `5.7.8 ${quote(error.message)}`);
  // Such as while the project is being moved to another cell.
  if (error.code === 'timeout') return new Refusal(451, `4.3.0 ${quote(error.message)}`);
  if (error.code === 'rate_limited') return new Refusal(451, `4.7.0 ${quote(error.message)}`);
  if (error.code === 'forbidden') return new Refusal(550, `5.7.1 ${quote(error.message)}`);
  return new Refusal(550, `5.6.0 ${quote(problems === '' ? error.message : problems)}`);
}

/** A reply is a single line, of at most 512 octets (RFC 5321, 4.5.3.1.5) unless it quotes text that is not ASCII. */
const quote = (text: string) => cleanLine(text, 400);
