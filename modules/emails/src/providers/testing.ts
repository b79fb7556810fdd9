// Servers that tests of other modules send to.
export { type MailboxServer, startMailboxServer, startTokenServer, type TokenServer } from './accounts/mail-server.ts';
export { PRESETS } from './accounts/presets.ts';
export { type SesStandIn, startSes } from './ses/stand-in.ts';
