export { compositionError, MessageError } from './errors.ts';
export { wireAddress } from './address.ts';
export type { Mailbox, WireAddress } from './address.ts';
export { headerProblem } from './headers.ts';
export type { Unsubscribe } from './headers.ts';
export { compileMessage } from './frame.ts';
export type { Frame, FrameInput, FrameRecipient } from './frame.ts';
export { buildMessage } from './build.ts';
export type { Alternative, Attachment, MessageInput } from './build.ts';
