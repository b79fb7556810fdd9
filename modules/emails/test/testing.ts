export { holdMail } from './hold-mail.ts';
