export { type MailboxServer, startMailboxServer, startTokenServer } from './mailboxes/mail-server.ts';
export { startSes } from './ses/stand-in.ts';
