export { type AudienceSnapshot, audienceSnapshot } from './audience-snapshot.ts';
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
export { storedConditions } from './stored-conditions.ts';
export { type Choice, choicesOf, keepGroups, rejoinGroups, setPublicName } from './opt-outs.ts';
