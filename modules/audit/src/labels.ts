/** Past tense of mutation verbs. */
const PAST: Record<string, string> = {
  accept: 'Accepted',
  acknowledge: 'Acknowledged',
  add: 'Added',
  archive: 'Archived',
  authorize: 'Requested authorization for',
  cancel: 'Canceled',
  change: 'Changed',
  check: 'Checked',
  connect: 'Connected',
  create: 'Created',
  delete: 'Deleted',
  disable: 'Disabled',
  discard: 'Discarded',
  disconnect: 'Disconnected',
  duplicate: 'Duplicated',
  enable: 'Enabled',
  enroll: 'Enrolled',
  erase: 'Erased',
  execute: 'Carried out',
  import: 'Imported',
  invite: 'Invited',
  mark: 'Marked',
  move: 'Moved',
  pause: 'Paused',
  publish: 'Published',
  remove: 'Removed',
  rename: 'Renamed',
  replay: 'Replayed',
  reschedule: 'Rescheduled',
  resend: 'Resent to',
  resolve: 'Resolved',
  restore: 'Restored',
  resubscribe: 'Resubscribed',
  resume: 'Resumed',
  retry: 'Retried',
  reveal: 'Revealed',
  revoke: 'Revoked',
  rotate: 'Rotated',
  schedule: 'Scheduled',
  send: 'Sent',
  set: 'Set',
  start: 'Started',
  suppress: 'Suppressed',
  test: 'Tested',
  track: 'Tracked',
  unschedule: 'Unscheduled',
  unsubscribe: 'Unsubscribed',
  update: 'Changed',
  withdraw: 'Withdrew',
};

/** Labels of actions that do not follow from their name. */
const ACTIONS: Record<string, string> = {
  abTestDelete: 'Deleted A/B test',
  chooseAbTestWinner: 'Selected the winner of an A/B test',
  changePassword: 'Changed their password',
  changeRole: "Changed a member's role",
  disableTwoFactor: 'Turned off two-factor authentication',
  enableTwoFactor: 'Turned on two-factor authentication',
  emailChangeConfirm: 'Changed their email address',
  emailChangeRequest: 'Requested a change of their email address',
  executeDryRun: 'Imported the file of a dry run',
  generateBackupCodes: 'Generated new backup codes',
  invite: 'Invited a member',
  linkProvider: 'Linked their account to the sign-in provider',
  removeApiKeyFromProject: 'Removed API key from the project',
  removeContactsFromGroup: 'Removed contacts from group',
  addContactsToGroup: 'Added contacts to group',
  createGroupFromRecipients: 'Created group from recipients',
  contactViewDelete: 'Deleted saved view of contacts',
  formDelete: 'Deleted form',
  projectDelete: 'Deleted project',
  createContactView: 'Saved view of contacts',
  markNotificationsRead: 'Marked notifications as read',
  renameMe: 'Changed their name',
  resetPassword: 'Reset their password by email',
  resolveCampaignRecipients: 'Resolved unknown outcomes',
  retryCampaignRecipients: 'Retried failed recipients',
  resendCampaignRecipients: 'Resent to unknown recipients',
  updateTracking: 'Changed open and click tracking',
  webhookDeliveryGiveUp: 'Gave up webhook delivery',
  webhookDeliveryRetry: 'Retried webhook delivery',
};

/** Labels of fields that do not follow from their name. */
const FIELDS: Record<string, string> = {
  refusalsInRow: 'Rejections in a row',
};

const WORDS: Record<string, string> = {
  ab: 'A/B',
  api: 'API',
  bcc: 'Bcc',
  dkim: 'DKIM',
  dns: 'DNS',
  html: 'HTML',
  id: 'ID',
  ids: 'IDs',
  smtp: 'SMTP',
  url: 'URL',
  utm: 'UTM',
};

const words = (name: string) =>
  name
    .split(/(?=[A-Z])|_/)
    .map((word) => word.toLowerCase())
    .map((word) => WORDS[word] ?? word);

/** An action in words: `createApiKey` becomes "Created API key". */
export function actionLabel(action: string): string {
  const label = ACTIONS[action];
  if (label !== undefined) return label;
  const [verb = '', ...rest] = words(action);
  return [PAST[verb] ?? capitalize(verb), ...rest].join(' ');
}

/** Whether an action can be in the log, as far as its verb tells: old entries have actions of mutations that no longer exist. */
export const isAction = (action: string): boolean =>
  Object.hasOwn(ACTIONS, action) || (/^[a-z]+[A-Za-z]*$/.test(action) && Object.hasOwn(PAST, words(action)[0] ?? ''));

/** A field in words: `fromEmail` becomes "From email", and `customFields.plan` "Custom fields: plan". */
export function fieldLabel(field: string): string {
  const [name = '', ...rest] = field.split('.');
  return [FIELDS[name] ?? capitalize(words(name).join(' ')), ...(rest.length === 0 ? [] : [rest.join('.')])].join(': ');
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
