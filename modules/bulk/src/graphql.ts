import { ContactSource } from '@postroom/contacts/graphql';
import '@postroom/groups/graphql';
import {
  atMost,
  authenticated,
  builder,
  callerProject,
  JSON_OBJECT,
  MAX_NAME_LENGTH,
  NAME,
  Node,
  registerNode,
  relayNames,
  workflowUrl,
  watchUntilFinal,
} from '@postroom/platform';
import {
  BULK_ID,
  type BulkAction as Action,
  cancelOperation,
  findOperations,
  getOperation,
  listOperations,
  startOperation,
  topicOf,
} from './operations.ts';

const BulkAction = builder.enumType('BulkAction', {
  description: 'An action on many contacts.',
  values: {
    add_to_group: { description: 'Adds the contacts to a group, which may be new.' },
    remove_from_group: { description: 'Removes the contacts from a group.' },
    suppress: { description: 'Suppresses the addresses, with the reason `manual`.' },
    unsubscribe: { description: 'Unsubscribes the addresses.' },
    delete: { description: 'Deletes the contacts permanently. Suppressions of their addresses stay.' },
  } satisfies Record<Action, { description: string }>,
});

const BulkStatus = builder.enumType('BulkStatus', {
  description: 'The state of a bulk operation.',
  values: {
    running: { description: 'Contacts are being processed, or it waits for a worker.' },
    completed: { description: 'All contacts were processed.' },
    failed: { description: 'It could not continue; `error` says why. Contacts already processed stay as they are.' },
    canceled: { description: 'It was canceled; contacts already processed stay as they are.' },
  },
});

const BulkOperation = builder.prismaObject('BulkOperation', {
  interfaces: [Node],
  description: 'An operation that applies an action to all contacts that match a filter, in the background.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id of the operation; also the id of its workflow in Temporal.' }),
    action: t.expose('action', { type: BulkAction, description: 'The action.' }),
    status: t.expose('status', { type: BulkStatus, description: 'The state of the operation.' }),
    total: t.exposeInt('total', {
      description: 'How many contacts matched at the start, counted up to 100,000.',
    }),
    processed: t.exposeInt('processed', { description: 'How many have been processed.' }),
    changed: t.exposeInt('changed', { description: 'How many of those were changed.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed.' }),
    groupId: t.exposeID('groupId', {
      nullable: true,
      description: 'The group; a new group is set once it has its first member.',
    }),
    groupName: t.exposeString('groupName', {
      nullable: true,
      description: 'The name of the group, if it was specified.',
      ...atMost(MAX_NAME_LENGTH),
    }),
    cancelRequestedAt: t.expose('cancelRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was canceled; it stops after the contacts that are being processed.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was started.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    workflowUrl: t.string({
      nullable: true,
      description: 'Its workflow in the Temporal UI; null if the UI address is not configured.',
      resolve: ({ id }) => workflowUrl(id),
    }),
  }),
});

registerNode(BULK_ID, 'BulkOperation', (context, ids) => findOperations(callerProject(context), ids), 'read', {
  select: `SELECT id, concat_ws(', ', to_char(total, 'FM999,999,999') || CASE total WHEN 1 THEN ' contact' ELSE ' contacts' END, group_name) AS name
    FROM bulk_operations WHERE id = ANY ($1::text[]) AND project_id = $2`,
});

const operationId = { required: true, description: 'Id of the operation.' } as const;

builder.queryFields((t) => ({
  bulkOperation: t.field({
    type: BulkOperation,
    description: 'A bulk operation of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id(operationId) },
    resolve: (_root, { id }, context) => getOperation(callerProject(context), id),
  }),
  bulkOperations: t.connection(
    {
      type: BulkOperation,
      description: "The project's bulk operations, newest first.",
      resolve: (_root, args, context) => listOperations(callerProject(context), args),
    },
    ...relayNames('BulkOperation'),
  ),
}));

/** Subscribers get updates at most at this interval, in milliseconds. */
const THROTTLE_MS = 500;

builder.subscriptionField('bulkOperationProgress', (t) =>
  t.field({
    type: BulkOperation,
    description: 'The current operation, then an update whenever it has made progress, until it has ended.',
    args: { id: t.arg.id(operationId) },
    subscribe: (_root, { id }, context) => {
      const projectId = callerProject(context);
      return watchUntilFinal(topicOf(id), {
        read: () => getOperation(projectId, id),
        isFinal: ({ status }) => status !== 'running',
        minIntervalMs: THROTTLE_MS,
      });
    },
    resolve: (row) => row,
  }),
);

const ContactFilterInput = builder.inputType('ContactFilterInput', {
  description: 'The filters of the contact list; contacts must pass all of them.',
  fields: (t) => ({
    ids: t.idList({ description: 'Only these contacts; at most 1,000.' }),
    email: t.string({ description: 'The full address, case-insensitive.' }),
    search: t.string({ description: 'Part of the address or name, case-insensitive.' }),
    groupId: t.id({ description: 'Members of this group.' }),
    segmentId: t.id({ description: 'Contacts in this segment.' }),
    where: t.field({
      type: 'JSON',
      description: 'Contacts that match this segment filter, which is not saved.',
      ...JSON_OBJECT,
    }),
    suppressed: t.boolean({ description: 'True for suppressed contacts, false for the others.' }),
    source: t.field({ type: ContactSource, description: 'Where they came from.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Added after this instant.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Added before this instant.' }),
  }),
});

const StartBulkOperationInput = builder.inputType('StartBulkOperationInput', {
  description: 'An action, and the contacts it applies to.',
  fields: (t) => ({
    action: t.field({ type: BulkAction, required: true, description: 'What to do.' }),
    filter: t.field({
      type: ContactFilterInput,
      required: true,
      description: 'Which contacts; an empty filter stands for all contacts of the project.',
    }),
    groupId: t.id({ description: 'The group to add to or remove from.' }),
    groupName: t.string({ description: 'The name of the group to add to; created if it does not exist.', ...NAME }),
  }),
});

/** How the audit log calls the start of an operation. */
const ACTIONS: Record<Action, string> = {
  add_to_group: 'addContactsToGroup',
  remove_from_group: 'removeContactsFromGroup',
  suppress: 'suppressContacts',
  unsubscribe: 'unsubscribeContacts',
  delete: 'deleteContacts',
};

builder.mutationFields((t) => ({
  startBulkOperation: t.field({
    type: BulkOperation,
    extensions: { action: ({ input }: { input: { action: Action } }) => ACTIONS[input.action] },
    description:
      'Starts an action on all contacts that match a filter; contacts added later are left out, and later edits of the segment have no effect.',
    args: { input: t.arg({ type: StartBulkOperationInput, required: true, description: 'The action.' }) },
    resolve: (_root, { input }, context) => startOperation(callerProject(context), authenticated(context).id, input),
  }),
  cancelBulkOperation: t.field({
    type: BulkOperation,
    description: 'Cancels a bulk operation; contacts already processed stay as they are. `conflict` when it has ended.',
    args: { id: t.arg.id(operationId) },
    resolve: async (_root, { id }, context) => {
      await cancelOperation(callerProject(context), id);
      return getOperation(callerProject(context), id);
    },
  }),
}));
