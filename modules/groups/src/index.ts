export { type AudienceSnapshot, audienceSnapshot, checkAudience } from './audience-snapshot.ts';
export {
  type Audience,
  type AudienceCount,
  audienceProblems,
  audienceSql,
  type ContactRange,
  countAudience,
  hasRecipients,
  disableNestedLoops,
  queryAudience,
  sendProblems,
} from './audience.ts';
export {
  addContacts,
  createGroup,
  deleteGroup,
  getGroup,
  findOrCreateGroup,
  joinGroup,
  listGroups,
  lockGroup,
  addContactsIn,
  removeContactsIn,
  updateGroup,
} from './groups.ts';
export { type Choice, choicesOf, keepGroups, rejoinGroups, setPublicName } from './opt-outs.ts';
