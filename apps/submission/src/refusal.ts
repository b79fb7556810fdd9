import { DomainError, hasCode, logger, restPath, withoutReordering } from '@postroom/platform';

/** A reply other than 250; its text starts with an enhanced status code (RFC 3463). */
export class Refusal extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

/** The code of smtp-server for a connection that closed before the end of a message. */
const CLIENT_GONE = 'ECONNECTION';

/** Maps an error to an SMTP reply. Internal errors are temporary failures, so clients retry. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof DomainError)) {
    if (hasCode(error, CLIENT_GONE)) logger.debug({ err: error }, 'client disconnected within its message');
    else logger.error({ err: error }, 'message submission failed');
    return new Refusal(451, '4.3.0 Temporary server error; try again later');
  }
  // Fields are named as in `/v1`. A mail split into several emails reports the same problems for each.
  const problems = [...new Set(error.details.map(({ field, message }) => `${restPath(field)} ${message}`))].join('; ');
  if (error.code === 'unauthorized') return new Refusal(535, `5.7.8 ${oneLine(error.message)}`);
  // Such as while the project is being moved to another cell.
  if (error.code === 'timeout') return new Refusal(451, `4.3.0 ${oneLine(error.message)}`);
  if (error.code === 'rate_limited') return new Refusal(451, `4.7.0 ${oneLine(error.message)}`);
  if (error.code === 'forbidden') return new Refusal(550, `5.7.1 ${oneLine(error.message)}`);
  return new Refusal(550, `5.6.0 ${oneLine(problems === '' ? error.message : problems)}`);
}

/** Replies are a single line of limited length. They may quote the mail, which must not reorder our words. */
const oneLine = (text: string) =>
  withoutReordering(text, ' ')
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
    .slice(0, 400)
    .toWellFormed();
