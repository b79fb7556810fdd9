export { type MailboxServer, startMailboxServer, startTokenServer } from './mailboxes/mail-server.ts';
export { startSes } from './ses/fake-ses.ts';
