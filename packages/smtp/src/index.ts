export { type ConnectionSlots, createSmtpPool, probeRelay, type SmtpPool, type SmtpPoolOptions } from './pool.ts';
export { SMTP_POLICY } from './policy.ts';
export { recordWriteIntent, type SendJournal, type SmtpMessage } from './envelope.ts';
export { HandshakeError } from './handshake.ts';
export { hostDeferred, outcomeOf, type Refusal, type SendOutcome } from './outcome.ts';
export { type Classification, classify, type Phase } from './classify.ts';
export type { Stop, Verdict } from './reply-rules.ts';
export { type Credentials, isLoopback, localHostName, parseRelayUrl, type Relay } from './relay-url.ts';
export type { Timeouts } from './timeouts.ts';
