// What tests of other modules need: servers that they send to, and a way to keep a project's mail from being sent.
export { holdMail } from '../hold-mail.ts';
export { type MailboxServer, startMailboxServer, startTokenServer, type TokenServer } from './accounts/mail-server.ts';
export { PRESETS } from './accounts/presets.ts';
export { type SesStandIn, startSes } from './ses/stand-in.ts';
