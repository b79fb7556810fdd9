export { type CustomFieldType, type CustomFieldValue, type FieldSchema, valueOfField } from '@postroom/custom-fields';
export { type BatchResult, createContactsBatch, MAX_BATCH_ROWS } from './contact-batch.ts';
export {
  addressPartStatement,
  checkFilter,
  contactBatch,
  type ContactFilter,
  contactsStatement,
  countContacts,
  listContacts,
  MAX_FILTER_IDS,
} from './contact-list.ts';
export * from './contact-writes.ts';
export {
  type Contact,
  type ContactSource,
  createContact,
  type CreateContactInput,
  deleteContact,
  deleteContacts,
  findContacts,
  getContact,
  lockContacts,
  SUPPRESSED,
  updateContact,
  type UpdateContactInput,
} from './contacts.ts';
export {
  createCustomField,
  type CreateCustomFieldInput,
  type CustomField,
  deleteCustomField,
  getCustomField,
  listCustomFields,
  namesThatMayBeBlank,
  readSchema,
  schemaOf,
  timeZoneFieldProblem,
  updateCustomField,
} from './custom-fields.ts';
export { checkNames, deletedNames, type FilterOf } from './deleted-names.ts';
export { type ContactFacts, contactDeleted, contactSubscribed, contactUpdated, FACTS_COLUMNS } from './events.ts';
export { compileFilter, Parameters, type SegmentFilter } from '@postroom/segment-filters';
export { CONTACT_SOURCES, SUPPRESSION_REASONS } from './sql.ts';
export {
  checkSegmentFilter,
  createSegment,
  deleteSegment,
  findSegments,
  getSegment,
  listSegments,
  updateSegment,
} from './segments.ts';
export {
  type CheckedSuppression,
  checkSuppression,
  countNewSuppressions,
  suppressionKey,
  writeSuppressions,
} from './suppression-batch.ts';
export {
  addSuppression,
  clearUnsubscribed,
  getSuppression,
  isSuppressed,
  listSuppressions,
  removeSuppression,
  resubscribe,
  lockSuppressions,
  shareSuppressions,
  suppress,
  findSuppressedKeys,
  withoutErased,
  type SuppressionActor,
  type SuppressionOrigin,
  type Suppression,
  SUPPRESSION_STATUS_SQL,
  type SuppressionReason,
  type SuppressionStatus,
} from './suppressions.ts';
