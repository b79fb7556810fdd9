/** A message that can't be made from what was given; `field` names what is wrong, so that callers can say where. */
export class MessageError extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = 'MessageError';
    this.field = field;
  }
}

/** What to throw when a message could not be made: whatever went wrong there goes wrong each time, so it fails the message. */
export function compositionError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof MessageError || error.name === 'DomainError') return error;
  const failure = new MessageError('html', `The message could not be made: ${error.message}`);
  failure.cause = error;
  return failure;
}
