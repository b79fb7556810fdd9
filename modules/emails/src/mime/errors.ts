/** A message that can't be made from what was given; `field` names what is wrong, so that callers can say where. */
export class MessageError extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = 'MessageError';
    this.field = field;
  }
}
