export { type AlternativeInput, type AttachmentInput, scheduleProblem, type SendEmailInput } from './email-input.ts';
export { type QueuedEmail, sendEmails } from './emails.ts';
export { answerSubmission, signInToSubmit, SUBMISSION, type SubmissionKey, type Submitter } from './submit-mail.ts';
export { emptyPlaceholders, textTemplateOf } from './fill-content-for-project.ts';
export { MAX_ATTACHMENTS, MAX_CONTENT_TYPE_LENGTH, MAX_FILENAME_LENGTH } from './email-input.ts';
export { checkSenderMailbox, formatMailbox, parseMailbox } from './mailbox.ts';
export { messageIdOf } from './compose-email.ts';
export { ContentBudget, EMPTY_SUBJECT } from './render-content.ts';
export { type ContactEmailInput, insertPrepared, type PreparedEmail, prepareEmails } from './prepared-emails.ts';
