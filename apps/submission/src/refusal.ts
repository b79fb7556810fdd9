import { DomainError, logger } from '@postroom/platform';

/** An answer other than 250; its words begin with a code of RFC 3463. */
export class Refusal extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

/** What an error of the rules is in SMTP. What is our own fault is to be tried again. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof DomainError)) {
    logger.error({ err: error }, 'a mail could not be taken');
    return new Refusal(451, '4.3.0 The mail could not be taken now; try again');
  }
  // A mail that becomes several has its faults in each.
  const problems = [...new Set(error.details.map(({ field, message }) => `${field} ${message}`))].join('; ');
  if (error.code === 'unauthorized') return new Refusal(535, `5.7.8 ${oneLine(error.message)}`);
  if (error.code === 'rate_limited') return new Refusal(451, `4.7.0 ${oneLine(error.message)}`);
  if (error.code === 'forbidden') return new Refusal(550, `5.7.1 ${oneLine(error.message)}`);
  return new Refusal(550, `5.6.0 ${oneLine(problems === '' ? error.message : problems)}`);
}

/** An answer is one line, no longer than a client has to read. */
const oneLine = (text: string) => text.replace(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ').slice(0, 400);
