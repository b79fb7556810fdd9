export { EmailStatus } from './emails.ts';
import './send-email.ts';
import './sending-hold.ts';
