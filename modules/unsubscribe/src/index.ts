export {
  findRecipient,
  type MessageRecipient,
  readToken,
  TEST_TOKEN,
  testUnsubscribeUrl,
  unsubscribeUrl,
  webVersionToken,
  webVersionUrl,
} from './unsubscribe-link.ts';
export {
  answerInvalidLink,
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
