/** Past tense of mutation verbs. */
const PAST: Record<string, string> = {
  accept: 'Accepted',
  add: 'Added',
  authorize: 'Requested authorization for',
  cancel: 'Canceled',
  change: 'Changed',
  check: 'Checked',
  connect: 'Connected',
  create: 'Created',
  delete: 'Deleted',
  disable: 'Disabled',
  disconnect: 'Disconnected',
  duplicate: 'Duplicated',
  enable: 'Enabled',
  erase: 'Erased',
  import: 'Imported',
  invite: 'Invited',
  pause: 'Paused',
  publish: 'Published',
  remove: 'Removed',
  rename: 'Renamed',
  replay: 'Replayed',
  resend: 'Resent to',
  resolve: 'Resolved',
  resubscribe: 'Resubscribed',
  restore: 'Restored',
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
  unsubscribe: 'Unsubscribed',
  update: 'Changed',
  withdraw: 'Withdrew',
};

const NAMES: Record<string, string> = { api: 'API' };

/** A readable mutation name: `createApiKey` becomes "Created API key". */
export function actionInWords(action: string): string {
  const [verb = '', ...rest] = action.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
  const words = rest.map((word) => NAMES[word] ?? word).join(' ');
  if (action === 'invite') return 'Invited a member';
  if (action === 'renameMe') return 'Changed their name';
  return `${PAST[verb] ?? verb} ${words}`.trim();
}
