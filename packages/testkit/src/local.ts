/** What needs no service, for unit tests too. */
export { eventually } from './eventually.ts';
export { charactersScanned } from './scanned-characters.ts';
export { type Received, type Receiver, startReceiver } from './receiver.ts';
export { type SinkAnswer, type SinkRule, type SmtpSink, startSmtpSink, type SunkMail } from './smtp-sink.ts';
