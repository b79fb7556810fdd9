/** A startup failure, as one actionable sentence. Shown without a stack trace. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
