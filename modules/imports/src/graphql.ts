import { ContactSource, OnConflict } from '@postroom/contacts/graphql';
import '@postroom/groups/graphql';
import {
  builder,
  callerProject,
  invalid,
  JSON_OBJECT,
  NAME,
  Node,
  registerNode,
  relayNames,
  workflowUrl,
} from '@postroom/platform';
import { type ImportError, listErrors } from './errors.ts';
import {
  addPart,
  cancelImport,
  createImport,
  findImports,
  getImport,
  type Import as ImportModel,
  listImports,
  MAX_PART_BYTES,
  startImport,
} from './imports.ts';
import { watchImport } from './subscription.ts';
import { checkOptions } from './options.ts';
import { type PlannedColumn, planOf } from './plan.ts';

const ImportStatus = builder.enumType('ImportStatus', {
  description: 'Where an import is.',
  values: {
    uploading: { description: 'Its file is not all there yet.' },
    queued: { description: 'It begins as soon as a worker takes it up.' },
    running: { description: 'Its rows are being written.' },
    completed: { description: 'Every row is written, or reported.' },
    failed: { description: 'The file can not be used; `error` says why. Nothing was written.' },
    canceled: { description: 'It was ended before its end; what was written stays.' },
  },
});

const ImportColumn = builder.objectRef<PlannedColumn>('ImportColumn').implement({
  description: 'A column of the file and what it becomes.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What the file calls it.' }),
    fields: t.exposeStringList('fields', {
      description: '`email`, `name` or `customFields.<key>`; empty when it is not imported.',
    }),
    type: t.exposeString('type', { nullable: true, description: 'The type of the custom field.' }),
    isNew: t.exposeBoolean('isNew', { description: 'Whether the custom field is made for it.' }),
  }),
});

const ImportCounts = builder.objectRef<ImportModel>('ImportCounts').implement({
  description: 'What became of the rows so far; in a dry run, what would.',
  fields: (t) => ({
    rows: t.exposeInt('rows', { description: 'Rows dealt with. The others add up to it.' }),
    created: t.exposeInt('created', { description: 'Contacts that are new.' }),
    updated: t.exposeInt('updated', { description: 'Contacts that were there and were changed.' }),
    unchanged: t.exposeInt('unchanged', { description: 'Contacts that were there and stay as they were.' }),
    duplicates: t.exposeInt('duplicates', { description: 'Rows whose address an earlier row of the file has.' }),
    suppressed: t.exposeInt('suppressed', { description: 'Rows whose address is new and not to be mailed.' }),
    invalid: t.exposeInt('invalid', { description: 'Rows that can not be a contact.' }),
  }),
});

const ImportRowError = builder.objectRef<ImportError>('ImportRowError').implement({
  description: 'What is wrong with a row.',
  fields: (t) => ({
    line: t.exposeInt('line', { description: 'Where the row begins in the file, counted from 1.' }),
    field: t.exposeString('field', { description: '`email`, `name`, `customFields.<key>`, or `row` for the whole.' }),
    message: t.exposeString('message', { description: 'What is wrong with it.' }),
  }),
});

const Import = builder.prismaObject('Import', {
  interfaces: [Node],
  description:
    'A CSV file of contacts that is written into the project in the background, and what became of its rows.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Import id; its workflow in Temporal has the same.' }),
    status: t.expose('status', { type: ImportStatus, description: 'Where it is.' }),
    progress: t.float({
      description: 'How much of the file has been dealt with, 0 to 1.',
      resolve: ({ status, bytesDone, size }) => (status === 'completed' ? 1 : size === 0 ? 0 : bytesDone / size),
    }),
    counts: t.field({ type: ImportCounts, description: 'What became of the rows.', resolve: (row) => row }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed.' }),
    fileName: t.exposeString('fileName', { nullable: true, description: 'What the file is called.' }),
    size: t.exposeInt('size', { description: 'Bytes of the file.' }),
    encoding: t.exposeString('encoding', {
      nullable: true,
      description: 'Of the file; as found, unless it was given.',
    }),
    separator: t.exposeString('separator', {
      nullable: true,
      description: 'What is between values; as found, unless it was given.',
    }),
    columns: t.field({
      type: [ImportColumn],
      description: 'What the columns become; empty until the file has been looked at.',
      complexity: { field: 1, multiplier: 1 }, // they are a part of the row
      resolve: (row) => planOf(row)?.columns ?? [],
    }),
    onConflict: t.field({
      type: OnConflict,
      description: 'What happens to contacts that exist.',
      resolve: ({ onConflict }) => (onConflict === 'update' ? 'update' : 'skip'),
    }),
    dryRun: t.exposeBoolean('dryRun', { description: 'Whether nothing is written, only told what would be.' }),
    createFields: t.exposeBoolean('createFields', {
      description: 'Whether columns that are no custom field become one.',
    }),
    groupId: t.exposeID('groupId', {
      nullable: true,
      description: 'The group that its contacts join; one made for it as soon as it has a member.',
    }),
    groupName: t.exposeString('groupName', {
      nullable: true,
      description: 'The name of the group, when that was given.',
    }),
    cancelRequestedAt: t.expose('cancelRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When somebody canceled it; it ends after the rows that are being written.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When its upload began.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When rows began to be written.',
    }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    workflowUrl: t.string({
      nullable: true,
      description: 'Its workflow in the Temporal UI; null if the address of the UI is not configured.',
      resolve: ({ id }) => workflowUrl(id),
    }),
    errors: t.connection(
      {
        type: ImportRowError,
        description: 'What is wrong with rows, in the order of the file.',
        resolve: ({ id }, args, context) => listErrors(context, id, args),
      },
      ...relayNames('ImportError'),
    ),
  }),
});

registerNode('imp', 'Import', (context, ids) => findImports(callerProject(context), ids));

const importId = { required: true, description: 'Import id.' } as const;

builder.queryFields((t) => ({
  import: t.field({
    type: Import,
    description: 'An import of the project; `not_found` when there is none.',
    args: { id: t.arg.id(importId) },
    resolve: (_root, { id }, context) => getImport(callerProject(context), id),
  }),
  imports: t.connection(
    {
      type: Import,
      description: "The project's imports, newest first.",
      resolve: (_root, args, context) => listImports(callerProject(context), args),
    },
    ...relayNames('Import'),
  ),
}));

builder.subscriptionField('importProgress', (t) =>
  t.field({
    type: Import,
    description: 'An import as it is now, then each time it has come further, until it has ended.',
    args: { id: t.arg.id(importId) },
    subscribe: (_root, { id }, context) => watchImport(callerProject(context), id),
    resolve: (row) => row,
  }),
);

const ImportColumnsInput = builder.inputType('ImportColumnsInput', {
  description:
    'Which columns are what, by their names in the file, without regard to case. What is not given is told by the names.',
  fields: (t) => ({
    email: t.string({ description: 'The column of addresses.' }),
    name: t.stringList({ description: 'The columns that make the name, joined by a space; an empty list for none.' }),
    customFields: t.field({
      type: 'JSON',
      description: 'An object of columns by custom-field key; an empty one for none.',
      ...JSON_OBJECT,
    }),
  }),
});

const ImportContactsInput = builder.inputType('ImportContactsInput', {
  description: 'How a file of contacts is imported.',
  fields: (t) => ({
    columns: t.field({
      type: ImportColumnsInput,
      description: 'Which columns are what; told by their names unless given.',
    }),
    onConflict: t.field({
      type: OnConflict,
      description: 'What happens to contacts that exist; `skip` unless it says. A blank cell changes nothing.',
    }),
    dryRun: t.boolean({ description: 'Nothing is written; the counts and errors are those of the real import.' }),
    createFields: t.boolean({
      description: 'Columns that are no custom field become one, of the type that their values have.',
    }),
    groupId: t.id({ description: 'The group that the contacts join.' }),
    groupName: t.string({
      description: 'The name of the group that they join, which is made if there is none.',
      ...NAME,
    }),
    encoding: t.string({ description: 'Of the file, such as `windows-1252`; found out unless given.' }),
    separator: t.string({ description: 'The character between values, or `tab`; found out unless given.' }),
    fileName: t.string({ description: 'What the file is called, for people.' }),
  }),
});

builder.inputType('ExportContactsInput', {
  description: 'Which contacts are exported, by the filters of their list, and how.',
  fields: (t) => ({
    email: t.string({ description: 'The whole address, without regard to case.' }),
    search: t.string({ description: 'Part of the address or of the name, without regard to case.' }),
    groupId: t.id({ description: 'Members of this group.' }),
    segmentId: t.id({ description: 'Contacts in this segment.' }),
    suppressed: t.boolean({ description: 'True for those that are not mailed, false for the others.' }),
    source: t.field({ type: ContactSource, description: 'Where they came from.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Added after this instant.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Added before this instant.' }),
    raw: t.boolean({
      description: "Values as they are. Otherwise those that a spreadsheet would run as a formula begin with a `'`.",
    }),
    bom: t.boolean({
      description: 'The file begins with a byte order mark, by which Excel knows that it is in UTF-8.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createImport: t.field({
    type: Import,
    description: 'Begins an import. Its file comes in parts, then it is started.',
    args: { input: t.arg({ type: ImportContactsInput, required: true, description: 'How it is to be done.' }) },
    resolve: async (_root, { input }, context) => {
      const projectId = callerProject(context);
      return createImport(projectId, await checkOptions(projectId, input));
    },
  }),
  addImportPart: t.field({
    type: Import,
    description: 'Takes one part of the file. The same part may be sent again.',
    args: {
      id: t.arg.id(importId),
      number: t.arg.int({ required: true, description: 'Which part it is, from 0.' }),
      data: t.arg.string({ required: true, description: `Its bytes in base64, ${MAX_PART_BYTES} of them at most.` }),
    },
    resolve: async (_root, { id, number, data }, context) => {
      if (number < 0 || number > 9_999) throw invalid({ field: 'number', message: 'must be between 0 and 9999' });
      await addPart(callerProject(context), id, number, Buffer.from(data, 'base64'));
      return getImport(callerProject(context), id);
    },
  }),
  startImport: t.field({
    type: Import,
    description: 'Starts an import whose file is all there.',
    args: { id: t.arg.id(importId) },
    resolve: async (_root, { id }, context) => {
      await startImport(callerProject(context), id);
      return getImport(callerProject(context), id);
    },
  }),
  cancelImport: t.field({
    type: Import,
    description: 'Ends an import; contacts that are written already stay. `conflict` when it has ended.',
    args: { id: t.arg.id(importId) },
    resolve: async (_root, { id }, context) => {
      await cancelImport(callerProject(context), id);
      return getImport(callerProject(context), id);
    },
  }),
}));
