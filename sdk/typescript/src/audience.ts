import type { List } from './list.ts';
import { type Body, type DataOf, type Query, Resource } from './resource.ts';
import type { RequestOptions } from './transport.ts';
import type {
  BulkOperation,
  Contact,
  CustomEvent,
  CustomEventDefinition,
  CustomField,
  Group,
  GroupDetail,
  GroupSummary,
  Segment,
  SegmentDetail,
  SegmentPreview,
  Suppression,
} from './types.ts';

export class Contacts extends Resource {
  /** The contacts that match every filter, newest first. */
  list(query: Query<'listContacts'> = {}, options?: RequestOptions): List<Contact> {
    return this.listOf('listContacts', { query }, options);
  }

  /** Creates a contact, or returns the existing one with the address. */
  create(body: Body<'createContact'>, options?: RequestOptions): Promise<Contact> {
    return this.data('createContact', { body }, options);
  }

  /** Creates up to 1,000 contacts, each with its own result. */
  batch(body: Body<'createContacts'>, options?: RequestOptions): Promise<DataOf<'createContacts'>> {
    return this.data('createContacts', { body }, options);
  }

  get(id: string, options?: RequestOptions): Promise<Contact> {
    return this.data('getContact', { path: { id } }, options);
  }

  /** Changes the fields provided; `subscribed: false` unsubscribes the address, `true` resubscribes it. */
  update(id: string, body: Body<'updateContact'>, options?: RequestOptions): Promise<Contact> {
    return this.data('updateContact', { path: { id }, body }, options);
  }

  /** Deletes a contact permanently. */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteContact', { path: { id } }, options);
  }

  /** The groups that a contact is in, newest first. */
  groups(id: string, query: Query<'listContactGroups'> = {}, options?: RequestOptions): List<GroupSummary> {
    return this.listOf('listContactGroups', { path: { id }, query }, options);
  }

  /** All data stored about a person. */
  personData(id: string, options?: RequestOptions): Promise<DataOf<'getPersonData'>> {
    return this.data('getPersonData', { path: { id } }, options);
  }

  /**
   * Erases a person: messages and events stay as anonymous statistics, and only a hash of the address is kept.
   * @deprecated Always fails with `forbidden`: only owners and admins who are signed in may erase people.
   */
  erase(id: string, options?: RequestOptions): Promise<DataOf<'erasePerson'>> {
    return this.data('erasePerson', { path: { id } }, options);
  }

  /** The contacts that match every filter, as a stream of a CSV file. */
  export(query: Query<'exportContacts'> = {}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> {
    return this.transport.call('exportContacts', { query }, options);
  }
}

export class Groups extends Resource {
  list(query: Query<'listGroups'> = {}, options?: RequestOptions): List<Group> {
    return this.listOf('listGroups', { query }, options);
  }

  /** Creates a group of existing contacts; at least one must resolve. */
  create(body: Body<'createGroup'>, options?: RequestOptions): Promise<Group> {
    return this.data('createGroup', { body }, options);
  }

  /** A group with its existing members. */
  get(id: string, options?: RequestOptions): Promise<GroupDetail> {
    return this.data('getGroup', { path: { id } }, options);
  }

  /** Renames a group, replaces its member list, or both. */
  update(id: string, body: Body<'updateGroup'>, options?: RequestOptions): Promise<Group> {
    return this.data('updateGroup', { path: { id }, body }, options);
  }

  /** Adds contacts; `matched` is how many of them exist. */
  async addContacts(
    id: string,
    body: Body<'addContactsToGroup'>,
    options?: RequestOptions,
  ): Promise<{ group: GroupDetail; matched: number }> {
    const { data, matched } = await this.transport.call('addContactsToGroup', { path: { id }, body }, options);
    return { group: data, matched };
  }

  /** Removes a contact from a group; the last member can't be removed. The contact itself stays. */
  removeContact(id: string, contactId: string, options?: RequestOptions): Promise<void> {
    return this.done('removeContactFromGroup', { path: { id, contact_id: contactId } }, options);
  }

  /** Deletes a group; its contacts stay. */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteGroup', { path: { id } }, options);
  }
}

export class Segments extends Resource {
  list(query: Query<'listSegments'> = {}, options?: RequestOptions): List<Segment> {
    return this.listOf('listSegments', { query }, options);
  }

  create(body: Body<'createSegment'>, options?: RequestOptions): Promise<Segment> {
    return this.data('createSegment', { body }, options);
  }

  /** Previews a filter without saving it: the contact count, and the ten newest contacts. */
  preview(body: Body<'getSegmentPreview'>, options?: RequestOptions): Promise<SegmentPreview> {
    return this.data('getSegmentPreview', { body }, options);
  }

  get(id: string, options?: RequestOptions): Promise<SegmentDetail> {
    return this.data('getSegment', { path: { id } }, options);
  }

  update(id: string, body: Body<'updateSegment'>, options?: RequestOptions): Promise<Segment> {
    return this.data('updateSegment', { path: { id }, body }, options);
  }

  /** Deletes a segment; its contacts stay. */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteSegment', { path: { id } }, options);
  }

  /** The contacts that are in a segment now, newest first. */
  /** The recorded size on each of the last days, oldest first. */
  sizes(
    id: string,
    query: Query<'listSegmentSizes'> = {},
    options?: RequestOptions,
  ): Promise<DataOf<'listSegmentSizes'>> {
    return this.data('listSegmentSizes', { path: { id }, query }, options);
  }

  contacts(id: string, query: Query<'listSegmentContacts'> = {}, options?: RequestOptions): List<Contact> {
    return this.listOf('listSegmentContacts', { path: { id }, query }, options);
  }
}

export class CustomFields extends Resource {
  list(query: Query<'listCustomFields'> = {}, options?: RequestOptions): List<CustomField> {
    return this.listOf('listCustomFields', { query }, options);
  }

  create(body: Body<'createCustomField'>, options?: RequestOptions): Promise<CustomField> {
    return this.data('createCustomField', { body }, options);
  }

  get(id: string, options?: RequestOptions): Promise<CustomField> {
    return this.data('getCustomField', { path: { id } }, options);
  }

  update(id: string, body: Body<'updateCustomField'>, options?: RequestOptions): Promise<CustomField> {
    return this.data('updateCustomField', { path: { id }, body }, options);
  }

  /** Removes a custom field and its values. */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteCustomField', { path: { id } }, options);
  }
}

export class Suppressions extends Resource {
  list(query: Query<'listSuppressions'> = {}, options?: RequestOptions): List<Suppression> {
    return this.listOf('listSuppressions', { query }, options);
  }

  /** Adds an address to the suppression list. */
  add(body: Body<'addSuppression'>, options?: RequestOptions): Promise<Suppression> {
    return this.data('addSuppression', { body }, options);
  }

  get(id: string, options?: RequestOptions): Promise<Suppression> {
    return this.data('getSuppression', { path: { id } }, options);
  }

  remove(id: string, options?: RequestOptions): Promise<void> {
    return this.done('removeSuppression', { path: { id } }, options);
  }

  /** Adds up to 1,000 addresses; the reply counts them, with errors by cause. */
  batch(body: Body<'addSuppressions'>, options?: RequestOptions): Promise<DataOf<'addSuppressions'>> {
    return this.data('addSuppressions', { body }, options);
  }

  /** The suppressions that match every filter, as a stream of a CSV file. */
  export(query: Query<'exportSuppressions'> = {}, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> {
    return this.transport.call('exportSuppressions', { query }, options);
  }
}

/** Changes to all contacts that match a filter, carried out in the background. */
export class BulkOperations extends Resource {
  list(query: Query<'listBulkOperations'> = {}, options?: RequestOptions): List<BulkOperation> {
    return this.listOf('listBulkOperations', { query }, options);
  }

  start(body: Body<'startBulkOperation'>, options?: RequestOptions): Promise<BulkOperation> {
    return this.data('startBulkOperation', { body }, options);
  }

  get(id: string, options?: RequestOptions): Promise<BulkOperation> {
    return this.data('getBulkOperation', { path: { id } }, options);
  }

  /** Contacts already processed stay as they are. */
  cancel(id: string, options?: RequestOptions): Promise<BulkOperation> {
    return this.data('cancelBulkOperation', { path: { id } }, options);
  }
}

/** Custom events: what contacts did. */
export class Events extends Resource {
  /** Stores one event, or up to 1,000 in `events`, each with its own result. An event with the `id` of an earlier one is a duplicate. */
  track(body: Body<'trackEvents'>, options?: RequestOptions): Promise<DataOf<'trackEvents'>> {
    return this.data('trackEvents', { body }, options);
  }

  /** The events that match every filter, the latest to occur first. */
  list(query: Query<'listCustomEvents'> = {}, options?: RequestOptions): List<CustomEvent> {
    return this.listOf('listCustomEvents', { query }, options);
  }

  /** The names of events and their properties, newest name first. */
  definitions(query: Query<'listCustomEventDefinitions'> = {}, options?: RequestOptions): List<CustomEventDefinition> {
    return this.listOf('listCustomEventDefinitions', { query }, options);
  }

  getDefinition(id: string, options?: RequestOptions): Promise<CustomEventDefinition> {
    return this.data('getCustomEventDefinition', { path: { id } }, options);
  }

  /** Describes an event name and its properties, or locks its schema. */
  updateDefinition(
    id: string,
    body: Body<'updateCustomEventDefinition'>,
    options?: RequestOptions,
  ): Promise<CustomEventDefinition> {
    return this.data('updateCustomEventDefinition', { path: { id }, body }, options);
  }

  /** Removes an event name from the schema. Its events stay. */
  deleteDefinition(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteCustomEventDefinition', { path: { id } }, options);
  }
}
