// Servers that tests of other modules send to.
export { type MailboxServer, startMailboxServer } from './accounts/mail-server.ts';
export { type SesStandIn, startSes } from './ses/stand-in.ts';
