import {
  type AuditChange,
  auditedRows,
  batchLoader,
  builder,
  callerProject,
  type Context,
  managersOnly,
  Node,
  pool,
  registerNode,
  relayNames,
} from '@postroom/platform';
import { actorName } from '@postroom/projects';
import { type Entry, findEntries, kindOf, listEntries } from './entries.ts';
import { type Facets, facetsOf } from './facets.ts';
import { actionLabel, fieldLabel } from './labels.ts';

/** Columns of the entry cost nothing more, so that a page of 1,000 entries stays below the limit of a query. */
const PART_OF_ROW = { field: 1, multiplier: 0 };

const Change = builder.objectRef<AuditChange>('AuditChange').implement({
  description: 'One value that an update changed. Long texts, lists and objects are shortened.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Its field, such as `subject` or `customFields.plan`.' }),
    label: t.string({ description: 'The field in words.', resolve: ({ field }) => fieldLabel(field) }),
    before: t.expose('before', {
      type: 'JSON',
      nullable: true,
      description: 'The value before; null if there was none.',
    }),
    after: t.expose('after', { type: 'JSON', nullable: true, description: 'The value after; null if it was removed.' }),
  }),
});

/** The current names of what entries are about, for entries that did not record one. */
const loadName = batchLoader(async (context: Context, ids) => {
  const rows = await auditedRows(pool, callerProject(context), ids);
  return new Map([...rows].map(([id, { name }]) => [id, name]));
});

const AuditEntry = builder.objectRef<Entry>('AuditEntry').implement({
  interfaces: [Node],
  description: 'Who changed what, and when.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Entry id.' }),
    actorId: t.exposeID('actorId', { description: '`usr_…` or `key_…`.' }),
    actorName: t.string({
      nullable: true,
      description: 'The current name of the user or API key; null if it no longer exists.',
      resolve: ({ actorId }) => actorName(actorId),
    }),
    action: t.exposeString('action', {
      description: 'The action, such as `createGroup`. A mutation keeps the action of the one that it replaced.',
    }),
    actionLabel: t.string({
      description: 'The action in words, such as "Created group".',
      resolve: ({ action }) => actionLabel(action),
    }),
    targetId: t.exposeID('targetId', { nullable: true, description: 'The id of the changed object.' }),
    targetKind: t.string({
      nullable: true,
      description: 'The kind of that object, such as `campaign`.',
      resolve: ({ targetId }) => kindOf(targetId),
    }),
    targetName: t.string({
      nullable: true,
      description:
        "The object's name at the time, or its current name if that was not recorded; null if it no longer exists or has no name.",
      resolve: async ({ targetId, targetName }, _args, context) =>
        targetName ?? (targetId === null ? null : ((await loadName(context, targetId)) ?? null)),
    }),
    changes: t.field({
      type: [Change],
      description: 'The values that an update changed, at most 50; empty for other actions.',
      complexity: PART_OF_ROW,
      resolve: ({ changes }) => changes,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
  }),
});

registerNode('aud', 'AuditEntry', (context, ids) => findEntries(callerProject(context), ids), 'manage');

const AuditLogFilter = builder.inputType('AuditLogFilter', {
  description: 'Selects entries of the audit log; they must match all conditions.',
  fields: (t) => ({
    actorId: t.id({ description: 'Only entries of this user or API key.' }),
    action: t.string({ description: 'Only this action, such as `createGroup`.' }),
    targetKind: t.string({ description: 'Only changes to this kind of object, such as `campaign`.' }),
    targetId: t.id({ description: 'Only changes to this object.' }),
    since: t.field({ type: 'DateTime', description: 'Only at this time or later.' }),
    until: t.field({ type: 'DateTime', description: 'Only before this time.' }),
  }),
});

const AuditActor = builder.objectRef<string>('AuditActor').implement({
  description: 'A user or an API key with entries in the audit log.',
  fields: (t) => ({
    actorId: t.id({ description: '`usr_…` or `key_…`.', resolve: (id) => id }),
    name: t.string({
      nullable: true,
      description: 'The current name; null if the user or key no longer exists.',
      resolve: (id) => actorName(id),
    }),
  }),
});

const AuditAction = builder.objectRef<string>('AuditAction').implement({
  description: 'An action with entries in the audit log.',
  fields: (t) => ({
    action: t.string({ description: 'Such as `createGroup`.', resolve: (action) => action }),
    label: t.string({ description: 'The action in words.', resolve: actionLabel }),
  }),
});

const AuditLogFacets = builder.objectRef<Facets>('AuditLogFacets').implement({
  description: 'The values by which the audit log can be filtered; at most 200 of each.',
  fields: (t) => ({
    actors: t.field({
      type: [AuditActor],
      description: 'The users and API keys.',
      resolve: ({ actorIds }) => actorIds,
    }),
    actions: t.field({ type: [AuditAction], description: 'The actions.', resolve: ({ actions }) => actions }),
    targetKinds: t.stringList({
      description: 'The kinds of objects.',
      resolve: ({ prefixes }) => prefixes.flatMap((prefix) => kindOf(`${prefix}_`) ?? []),
    }),
  }),
});

builder.queryFields((t) => ({
  auditLog: t.connection(
    {
      type: AuditEntry,
      ...managersOnly,
      description: 'The changes that users and API keys made in the project, newest first.',
      args: { filter: t.arg({ type: AuditLogFilter, description: 'Only these entries.' }) },
      resolve: (_root, { filter, ...page }, context) => listEntries(callerProject(context), filter ?? {}, page),
    },
    ...relayNames('AuditEntry'),
  ),
  auditLogFacets: t.field({
    type: AuditLogFacets,
    ...managersOnly,
    description: "The users, API keys, actions and kinds of objects that occur in the project's audit log.",
    resolve: (_root, _args, context) => facetsOf(callerProject(context)),
  }),
}));
