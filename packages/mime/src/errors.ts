/** Invalid message input. `field` is the path of the offending input, such as `headers.X-Id`. */
export class MessageError extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = 'MessageError';
    this.field = field;
  }
}

/** Wraps an unexpected error in a MessageError: composing is deterministic, so a retry would fail the same way. */
export function compositionError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof MessageError || error.name === 'DomainError') return error;
  const wrapped = new MessageError('html', `The message could not be composed: ${error.message}`);
  wrapped.cause = error;
  return wrapped;
}
