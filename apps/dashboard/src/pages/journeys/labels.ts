/** Why a run ended, by the API's `endReason`. */
export const END_REASONS: Record<string, string> = {
  completed: 'Reached the end',
  exit: 'Reached an exit',
  goal: 'Reached the goal',
  removed: 'Removed by hand',
  new_version: 'A new version was published',
  journey_archived: 'The journey was archived',
  contact_deleted: 'The contact was deleted',
};

/** What a step did, by the API's `outcome`. */
const OUTCOMES: Record<string, string> = {
  sent: 'Sent',
  suppressed: 'Not sent: the address is suppressed or unsubscribed',
  capped: 'Not sent: frequency cap reached',
  failed: 'Not sent',
  waited: 'Waited',
  updated: 'Updated',
  joined: 'Added to the group',
  left: 'Removed from the group',
  notified: 'The team was notified',
  called: 'The webhook responded',
  call_failed: 'The webhook failed',
  exit: 'Exit',
  event: 'The event happened',
  timeout: 'The event did not happen in time',
  yes: 'Yes',
  no: 'No',
  goal: 'The goal was reached',
  moved: 'Moved by hand',
  removed: 'Removed by hand',
  new_version: 'Moved to a new version',
};

export function outcomeLabel(outcome: string): string {
  const known = OUTCOMES[outcome];
  return known ?? outcome.charAt(0).toUpperCase() + outcome.slice(1).replaceAll('_', ' ');
}

/** Names of the members of a definition, as the dialogs call them. */
const MEMBERS: Record<string, string> = {
  templateId: 'Template',
  from: 'From',
  replyTo: 'Reply-to',
  groupId: 'Group',
  formId: 'Form',
  segmentId: 'Segment',
  event: 'Event',
  time: 'Time of day',
  for: 'Duration',
  timeout: 'Timeout',
  branches: 'Branches',
  field: 'Field',
  value: 'Value',
  url: 'URL',
  memberIds: 'Also notify',
  steps: 'Steps',
  filter: 'Conditions on the contact',
  property: 'Property',
  stepId: 'Earlier step',
};

/** A problem of a draft as a sentence; the path of its field is as in `definition.steps.2.templateId`. */
export function describeProblem({ field, message }: { field: string; message: string }): string {
  const parts = field.split('.').filter((part) => !/^\d+$/.test(part));
  const name = parts.at(-1) ?? '';
  const text = message.replace(/ \(step ".*?"\)$/, '');
  // Messages about a whole step, and those of rules that name what is missing, are sentences already.
  if (/^[A-Z]/.test(text) || text.startsWith('the ')) return text.charAt(0).toUpperCase() + text.slice(1);
  return `${MEMBERS[name] ?? name} ${text}`;
}
