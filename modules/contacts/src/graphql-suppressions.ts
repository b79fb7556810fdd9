import {
  ADDRESS,
  builder,
  callerProject,
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
  SUPPRESSION_REASONS,
  type Suppression as SuppressionRow,
} from './suppressions.ts';

const SuppressionReason = builder.enumType('SuppressionReason', {
  description: 'Why an address is not to be mailed, the strongest reason first.',
  values: SUPPRESSION_REASONS,
});

const Suppression = builder.objectRef<SuppressionRow>('Suppression').implement({
  description: 'An address not to be mailed, and why. It outlives the contact.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Suppression id.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The address.' }),
    reason: t.expose('reason', { type: SuppressionReason, description: 'Why it is not to be mailed.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Since when.' }),
  }),
});

registerNode('sup', 'Suppression', (context, ids) => findSuppressions(callerProject(context), ids));

builder.queryFields((t) => ({
  suppression: t.field({
    type: Suppression,
    description: 'A suppression of the project; `not_found` when there is none.',
    args: { id: t.arg.id({ required: true, description: 'Suppression id.' }) },
    resolve: (_root, { id }, context) => getSuppression(callerProject(context), id),
  }),
  suppressions: t.connection(
    {
      type: Suppression,
      description: "The project's suppressions, newest first. An address has one for each reason.",
      args: {
        email: t.arg.string({ description: 'Those of this address, without regard to case.' }),
        reason: t.arg({ type: SuppressionReason, description: 'Those for this reason.' }),
      },
      resolve: (_root, args, context) => listSuppressions(callerProject(context), args),
    },
    ...relayNames('Suppression'),
  ),
}));

const AddSuppressionInput = builder.inputType('AddSuppressionInput', {
  description: 'An address not to be mailed.',
  fields: (t) => ({
    email: t.string({ required: true, description: "The address, a contact's or not.", ...jsonSchema(ADDRESS) }),
    reason: t.field({
      type: SuppressionReason,
      description: '`manual` unless it says; the others are for lists brought along from elsewhere.',
    }),
  }),
});

const AddSuppressionPayload = builder
  .objectRef<{ suppression: SuppressionRow; created: boolean }>('AddSuppressionPayload')
  .implement({
    description: 'The suppression of an address for a reason.',
    fields: (t) => ({
      suppression: t.field({
        type: Suppression,
        description: 'The new one, or the one that was there.',
        resolve: ({ suppression }) => suppression,
      }),
      created: t.exposeBoolean('created', { description: 'False when it was there already.' }),
    }),
  });

builder.mutationFields((t) => ({
  addSuppression: t.field({
    type: AddSuppressionPayload,
    description: 'Keeps an address from being mailed.',
    args: { input: t.arg({ type: AddSuppressionInput, required: true, description: 'The address.' }) },
    resolve: (_root, { input }, context) => addSuppression(callerProject(context), input),
  }),
}));

removalMutation('suppressionRemove', {
  replaces: 'removeSuppression',
  description: 'Removes one reason not to mail an address.',
  id: 'Suppression id.',
  remove: (context, id) => removeSuppression(callerProject(context), id),
});
