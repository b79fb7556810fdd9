import {
  atMost,
  builder,
  callerProject,
  jsonSchema,
  listOf,
  MAX_NAME_LENGTH,
  NAME,
  Node,
  notNull,
  registerNode,
  relayNames,
  removalMutation,
  displayName,
} from '@postroom/platform';
import { type CustomFieldType as FieldType, MAX_OPTIONS } from '@postroom/custom-fields';
import {
  createCustomField,
  deleteCustomField,
  findCustomFields,
  getCustomField,
  listCustomFields,
  updateCustomField,
} from '../custom-fields.ts';

const CustomFieldType = builder.enumType('CustomFieldType', {
  description: "The type of a custom field's values.",
  values: {
    text: { description: 'A string.' },
    number: { description: 'A number.' },
    boolean: { description: 'True or false.' },
    date: { description: 'A day, such as `2026-11-22`.' },
    select: { description: "One of the field's options." },
  } satisfies Record<FieldType, { description: string }>,
});

const CustomField = builder.prismaObject('CustomField', {
  description: "One key of the project's custom-field schema.",
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Custom field id.' }),
    key: t.exposeString('key', {
      description: 'The key in `customFields` of a contact and in placeholders.',
      ...atMost(MAX_KEY_LENGTH),
    }),
    label: t.exposeString('label', { description: 'Display name.', ...atMost(MAX_NAME_LENGTH) }),
    type: t.expose('type', { type: CustomFieldType, description: 'The type of its values.' }),
    options: t.exposeStringList('options', {
      description: 'The values allowed when the type is `select`.',
      ...listOf({ maxLength: MAX_NAME_LENGTH }),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
  }),
});

registerNode('fld', 'CustomField', (context, ids) => findCustomFields(callerProject(context), ids), 'read', {
  select: `SELECT id, label, options FROM custom_fields WHERE id = ANY ($1::text[]) AND project_id = $2`,
  of: ({ id: _, ...values }: { id: string; label: string }) => ({ name: values.label, values }),
});

builder.queryFields((t) => ({
  customField: t.field({
    type: CustomField,
    description: 'A custom field of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Custom field id.' }) },
    resolve: (_root, { id }, context) => getCustomField(callerProject(context), id),
  }),
  customFields: t.connection(
    {
      type: CustomField,
      description: "The project's custom-field schema, newest field first.",
      resolve: (_root, args, context) => listCustomFields(callerProject(context), args),
    },
    ...relayNames('CustomField'),
  ),
}));

/** A letter, then at most 63 more characters. */
const MAX_KEY_LENGTH = 64;

/** Unique texts that are not all blank. */
const OPTIONS = listOf(displayName(), { maxItems: MAX_OPTIONS, uniqueItems: true });

const CreateCustomFieldInput = builder.inputType('CreateCustomFieldInput', {
  description: 'A new custom field.',
  fields: (t) => ({
    key: t.string({
      required: true,
      description: 'A letter, then at most 63 letters, digits and underscores; unique within the project.',
      ...jsonSchema({ minLength: 1, maxLength: MAX_KEY_LENGTH, pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' }),
    }),
    label: t.string({ description: 'Display name; the key by default.', ...NAME }),
    type: t.field({
      type: CustomFieldType,
      required: true,
      description: "The type of its values; it can't be changed later.",
    }),
    options: t.stringList({ description: 'The values allowed; for `select` only.', ...OPTIONS }),
  }),
});

const UpdateCustomFieldInput = builder.inputType('UpdateCustomFieldInput', {
  description: 'The fields to change; omitted fields stay unchanged.',
  fields: (t) => ({
    label: t.string({ description: 'A new label.', ...notNull(NAME) }),
    options: t.stringList({
      description: 'Replaces the options of a `select` field; existing contact values stay.',
      ...notNull(OPTIONS),
    }),
  }),
});

builder.mutationFields((t) => ({
  createCustomField: t.field({
    type: CustomField,
    description: 'Adds a key to the custom-field schema. `conflict` when it is taken.',
    args: { input: t.arg({ type: CreateCustomFieldInput, required: true, description: 'The field.' }) },
    resolve: (_root, { input }, context) => createCustomField(callerProject(context), input),
  }),
  updateCustomField: t.field({
    type: CustomField,
    description: 'Changes the label or the options of a custom field.',
    args: {
      id: t.arg.id({ required: true, description: 'Custom field id.' }),
      input: t.arg({ type: UpdateCustomFieldInput, required: true, description: 'What to change.' }),
    },
    resolve: (_root, { id, input }, context) => updateCustomField(callerProject(context), id, input),
  }),
}));

removalMutation('customFieldDelete', {
  replaces: 'deleteCustomField',
  description: 'Removes a key and its values. `conflict` when a segment filters by it.',
  id: 'Custom field id.',
  remove: (context, id) => deleteCustomField(callerProject(context), id),
});
