import { actorName } from '@postroom/projects';
import {
  ADDRESS,
  atMost,
  authenticated,
  builder,
  callerProject,
  type Context,
  MAX_NAME_LENGTH,
  jsonSchema,
  Node,
  registerNode,
  relayNames,
  removalMutation,
} from '@postroom/platform';
import {
  addSuppression,
  findSuppressions,
  getSuppression,
  listSuppressions,
  removeSuppression,
  type SuppressionActor,
  type Suppression as SuppressionRow,
  type SuppressionOrigin as Origin,
  type SuppressionReason as Reason,
} from '../suppressions.ts';

export const SuppressionReason = builder.enumType('SuppressionReason', {
  description: 'Why an address must not be mailed, the strongest reason first.',
  values: {
    complained: { description: 'The recipient marked a message as spam.' },
    bounced: { description: 'The address does not accept mail.' },
    manual: { description: 'A user, an API key or an import suppressed it.' },
    unsubscribed: { description: 'The recipient unsubscribed.' },
  } satisfies Record<Reason, { description: string }>,
});

export const SuppressionOrigin = builder.enumType('SuppressionOrigin', {
  description: 'Who caused a suppression.',
  values: {
    recipient: { description: 'The recipient, through a link in a message.' },
    report: { description: 'A bounce or a complaint.' },
    user: { description: 'A user of the dashboard.' },
    api: { description: 'An API key.' },
    import: { description: 'An imported list.' },
  } satisfies Record<Origin, { description: string }>,
});

/** Not a `prismaObject`: a search by address also finds erased ones by their hash, which Prisma can't express. */
const Suppression = builder.objectRef<SuppressionRow>('Suppression').implement({
  description: 'An address that must not be mailed, and why. It outlives the contact.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Suppression id.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The address.' }),
    reason: t.expose('reason', { type: SuppressionReason, description: 'Why it must not be mailed.' }),
    origin: t.expose('origin', {
      type: SuppressionOrigin,
      nullable: true,
      description: 'Who caused it; null if it was added before origins were recorded.',
    }),
    addedById: t.exposeID('addedById', {
      nullable: true,
      description: 'The user or the API key that added it, `usr_…` or `key_…`; null for recipients and reports.',
    }),
    addedByName: t.string({
      nullable: true,
      description: 'The current name of that user or key; null if it no longer exists.',
      ...atMost(MAX_NAME_LENGTH),
      resolve: ({ addedById }) => actorName(addedById),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
  }),
});

registerNode('sup', 'Suppression', (context, ids) => findSuppressions(callerProject(context), ids), 'read', {
  select: `SELECT id, email AS name FROM suppressions WHERE id = ANY ($1::text[]) AND project_id = $2`,
});

builder.queryFields((t) => ({
  suppression: t.field({
    type: Suppression,
    description: 'A suppression of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Suppression id.' }) },
    resolve: (_root, { id }, context) => getSuppression(callerProject(context), id),
  }),
  suppressions: t.connection(
    {
      type: Suppression,
      description: "The project's suppressions, newest first. An address has one for each reason.",
      args: {
        email: t.arg.string({ description: 'Suppressions of this address, case-insensitive.' }),
        reason: t.arg({ type: SuppressionReason, description: 'Suppressions with this reason.' }),
        createdAfter: t.arg({ type: 'DateTime', description: 'Added after this instant.' }),
        createdBefore: t.arg({ type: 'DateTime', description: 'Added before this instant.' }),
      },
      resolve: (_root, args, context) => listSuppressions(callerProject(context), args),
    },
    ...relayNames('Suppression'),
  ),
}));

/** The caller, as the one who adds a suppression. */
export function suppressionActor(context: Context): SuppressionActor {
  const { id, kind } = authenticated(context);
  return { origin: kind === 'person' ? 'user' : 'api', actorId: id };
}

const AddSuppressionInput = builder.inputType('AddSuppressionInput', {
  description: 'An address that must not be mailed.',
  fields: (t) => ({
    email: t.string({
      required: true,
      description: 'The address; it does not have to belong to a contact.',
      ...jsonSchema(ADDRESS),
    }),
    reason: t.field({
      type: SuppressionReason,
      description: 'Defaults to `manual`; the other reasons are for lists imported from another provider.',
    }),
  }),
});

const AddSuppressionPayload = builder
  .objectRef<{ suppression: SuppressionRow; created: boolean }>('AddSuppressionPayload')
  .implement({
    description: 'The suppression of an address for one reason.',
    fields: (t) => ({
      suppression: t.field({
        type: Suppression,
        description: 'The new or the existing suppression.',
        resolve: ({ suppression }) => suppression,
      }),
      created: t.exposeBoolean('created', { description: 'False if it already existed.' }),
    }),
  });

builder.mutationFields((t) => ({
  addSuppression: t.field({
    type: AddSuppressionPayload,
    description: 'Adds an address to the suppression list.',
    args: { input: t.arg({ type: AddSuppressionInput, required: true, description: 'The address.' }) },
    resolve: (_root, { input }, context) => addSuppression(callerProject(context), input, suppressionActor(context)),
  }),
}));

removalMutation('suppressionRemove', {
  replaces: 'removeSuppression',
  description: 'Removes one reason from an address.',
  id: 'Suppression id.',
  remove: (context, id) => removeSuppression(callerProject(context), id),
});
