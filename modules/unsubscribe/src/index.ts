export {
  findRecipient,
  type MessageRecipient,
  readToken,
  testUnsubscribeUrl,
  unsubscribeUrl,
} from './unsubscribe-link.ts';
export {
  answerPage,
  answerProblem,
  type Brand,
  handleUnsubscribe,
  type PageOptions,
  type Preference,
  type Preferences,
  rejectMethod,
} from './unsubscribe-page.ts';
export { findUnsubscriber, unsubscribe, type Unsubscriber } from './unsubscribe.ts';
