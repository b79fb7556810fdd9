import { authenticated, builder, callerProject, jsonSchema } from '@postroom/platform';
import { addSuppressions, type SuppressionBatchResult } from '../suppression-batch.ts';

const Entry = builder.inputType('SuppressionEntryInput', {
  description: 'An entry of a suppression list. Its problems are reported in the result.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The address.' }),
    reason: t.string({ description: '`complained`, `bounced`, `manual` or `unsubscribed`; defaults to `manual`.' }),
  }),
});

const AddSuppressionsInput = builder.inputType('AddSuppressionsInput', {
  description: 'A part of a suppression list.',
  fields: (t) => ({
    entries: t.field({
      type: [Entry],
      required: true,
      description: '1 to 1,000 entries.',
      ...jsonSchema({ minItems: 1, maxItems: 1000 }),
    }),
    dryRun: t.boolean({ description: 'Writes nothing, and reports what would be written.' }),
  }),
});

const Cause = builder.objectRef<SuppressionBatchResult['causes'][number]>('SuppressionBatchCause').implement({
  description: 'Invalid entries with the same cause.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'What is wrong.' }),
    entries: t.exposeInt('entries', { description: 'Number of entries.' }),
    firstIndex: t.exposeInt('firstIndex', { description: 'The index of the first of them in the request, from 0.' }),
  }),
});

const AddSuppressionsPayload = builder.objectRef<SuppressionBatchResult>('AddSuppressionsPayload').implement({
  description: 'The result of a batch of suppressions, or of a dry run.',
  fields: (t) => ({
    created: t.exposeInt('created', { description: 'New suppressions.' }),
    existing: t.exposeInt('existing', {
      description: 'Entries that were suppressed already, or repeat another entry.',
    }),
    invalid: t.exposeInt('invalid', { description: 'Invalid entries.' }),
    causes: t.field({
      type: [Cause],
      description: 'The invalid entries by cause, the most frequent first.',
      resolve: ({ causes }) => causes,
    }),
  }),
});

builder.mutationFields((t) => ({
  addSuppressions: t.field({
    type: AddSuppressionsPayload,
    description: 'Adds up to 1,000 suppressions from a list; an invalid entry does not block the others.',
    args: { input: t.arg({ type: AddSuppressionsInput, required: true, description: 'The entries.' }) },
    resolve: (_root, { input: { entries, dryRun } }, context) =>
      addSuppressions(
        callerProject(context),
        entries,
        { origin: 'import', actorId: authenticated(context).id },
        { dryRun: dryRun ?? false },
      ),
  }),
}));
