/** A reason not to start, in one sentence that a newcomer can act on; shown without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
