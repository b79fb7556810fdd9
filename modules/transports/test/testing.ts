export {
  type MailboxServer,
  startMailboxServer,
  startTokenServer,
  trustedMailboxServer,
} from './mailboxes/mail-server.ts';
export { startSes } from './ses/fake-ses.ts';
