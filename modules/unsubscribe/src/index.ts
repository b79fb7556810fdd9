export { type Addressed, findAddressed, testUnsubscribeUrl, unsubscribeUrl } from './unsubscribe-link.ts';
export { answerPage, handleUnsubscribe, type Preference, type Preferences } from './unsubscribe-page.ts';
export { findUnsubscriber, unsubscribe, type Unsubscriber } from './unsubscribe.ts';
