export {
  type AlternativeInput,
  type AttachmentInput,
  MAX_RECIPIENTS,
  scheduleProblem,
  type SendEmailInput,
} from './email-input.ts';
export { type QueuedEmail, sendEmails, sendEmailsOnce } from './emails.ts';
export { textTemplateOf } from './fill-content-for-project.ts';
export { formatMailbox, parseMailbox } from './mailbox.ts';
export { messageIdOf } from './transactional.ts';
