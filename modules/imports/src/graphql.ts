import { ContactSource, OnConflict, SuppressionReason } from '@postroom/contacts/graphql';
import '@postroom/groups/graphql';
import {
  authenticated,
  batchLoader,
  builder,
  callerProject,
  invalid,
  JSON_OBJECT,
  NAME,
  Node,
  registerNode,
  relayNames,
  workflowUrl,
  atMost,
  jsonSchema,
  MAX_NAME_LENGTH,
} from '@postroom/platform';
import { type Cause, fixFor, listCauses } from './causes.ts';
import { type ImportError, listErrors } from './errors.ts';
import { executeDryRun } from './execute.ts';
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
import { MAX_RECORD_LENGTH } from '@postroom/csv';
import { watchImport } from './subscription.ts';
import { checkOptions, type ImportKind as Kind } from './options.ts';
import { type PlannedColumn, planOf } from './plan.ts';

const ImportStatus = builder.enumType('ImportStatus', {
  description: 'The state of an import.',
  values: {
    uploading: { description: 'The file is being uploaded.' },
    queued: { description: 'Waiting for a worker.' },
    running: { description: 'Rows are being written.' },
    completed: { description: 'Every row was written or reported as an error.' },
    failed: { description: 'The file could not be used; `error` says why. Nothing was written.' },
    canceled: { description: 'It was canceled before its end; contacts already written stay.' },
  },
});

const ImportKind = builder.enumType('ImportKind', {
  description: 'What an import creates from its rows.',
  values: {
    contacts: { description: 'Contacts.' },
    suppressions: { description: 'Suppressions.' },
  } satisfies Record<Kind, object>,
});

const ImportColumn = builder.objectRef<PlannedColumn>('ImportColumn').implement({
  description: 'A column of the file and its target.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The column name in the file.', ...atMost(MAX_RECORD_LENGTH) }),
    fields: t.exposeStringList('fields', {
      description: '`email`, `name`, `reason` or `customFields.<key>`; empty when it is not imported.',
    }),
    type: t.exposeString('type', { nullable: true, description: 'The type of the custom field.' }),
    isNew: t.exposeBoolean('isNew', { description: 'Whether the custom field is created for it.' }),
  }),
});

const ImportCounts = builder.objectRef<ImportModel>('ImportCounts').implement({
  description: 'The results of the rows so far; in a dry run, the predicted results.',
  fields: (t) => ({
    rows: t.exposeInt('rows', {
      description: 'Rows processed: the sum of created, updated, unchanged, duplicates, suppressed and invalid.',
    }),
    created: t.exposeInt('created', { description: 'New contacts or suppressions.' }),
    updated: t.exposeInt('updated', { description: 'Existing contacts that were changed.' }),
    unchanged: t.exposeInt('unchanged', {
      description: 'Existing contacts that were not changed, or suppressions that already existed.',
    }),
    duplicates: t.exposeInt('duplicates', {
      description: 'Rows with the address of an earlier row of the file; of suppressions, also with its reason.',
    }),
    suppressed: t.exposeInt('suppressed', { description: 'Rows with a new address that is suppressed.' }),
    invalid: t.exposeInt('invalid', { description: 'Rows that are not valid contacts or suppressions.' }),
    incomplete: t.exposeInt('incomplete', {
      description: 'Rows imported without one or more invalid values; they are also counted by their outcome.',
    }),
  }),
});

const ImportRowError = builder.objectRef<ImportError>('ImportRowError').implement({
  description: 'A problem with a row.',
  fields: (t) => ({
    line: t.exposeInt('line', { description: 'The line where the row starts in the file, counted from 1.' }),
    field: t.exposeString('field', {
      description: '`email`, `name`, `reason`, `customFields.<key>`, or `row` for the whole row.',
    }),
    message: t.exposeString('message', { description: 'The problem.' }),
  }),
});

const ImportCause = builder.objectRef<Cause & { fix: string }>('ImportCause').implement({
  description: 'Row errors with the same cause.',
  fields: (t) => ({
    field: t.exposeString('field', {
      description: '`email`, `name`, `reason`, `customFields.<key>`, or `row` for the whole row.',
    }),
    message: t.exposeString('message', { description: 'The problem, such as `is not an option`.' }),
    value: t.exposeString('value', {
      description: 'The value that is not an option, or the unknown reason; empty for other causes.',
    }),
    rows: t.exposeInt('rows', { description: 'Number of rows.' }),
    firstLine: t.exposeInt('firstLine', { description: 'The first line with this cause, counted from 1.' }),
    fix: t.exposeString('fix', { description: 'How to fix it.' }),
  }),
});

const loadCauses = batchLoader((_context: object, ids) => listCauses(ids));

const Import = builder.prismaObject('Import', {
  interfaces: [Node],
  description:
    'A CSV file of contacts or suppressions that is written into the project in the background, and the results of its rows.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Import id; also the id of its workflow in Temporal.' }),
    status: t.expose('status', { type: ImportStatus, description: 'The state of the import.' }),
    kind: t.expose('kind', { type: ImportKind, description: 'What the import creates from the rows.' }),
    reason: t.expose('reason', {
      type: SuppressionReason,
      nullable: true,
      description: 'The reason of suppressions whose row has none; null for contacts.',
    }),
    progress: t.float({
      description: 'The fraction of the file that has been processed, from 0 to 1.',
      resolve: ({ status, bytesDone, size }) => (status === 'completed' ? 1 : size === 0 ? 0 : bytesDone / size),
    }),
    counts: t.field({ type: ImportCounts, description: 'The results of the rows.', resolve: (row) => row }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed.' }),
    fileName: t.exposeString('fileName', {
      nullable: true,
      description: 'The filename.',
      ...atMost(MAX_NAME_LENGTH),
    }),
    size: t.exposeInt('size', { description: 'File size in bytes.' }),
    encoding: t.exposeString('encoding', {
      nullable: true,
      description: "The file's encoding; detected unless it was specified.",
    }),
    separator: t.exposeString('separator', {
      nullable: true,
      description: 'The separator between values; detected unless it was specified.',
      ...atMost(1),
    }),
    columns: t.field({
      type: [ImportColumn],
      description: 'The targets of the columns; empty until the file has been inspected.',
      complexity: { field: 1, multiplier: 1 }, // they are a part of the row
      resolve: (row) => planOf(row)?.columns ?? [],
    }),
    onConflict: t.field({
      type: OnConflict,
      description: 'What to do with existing contacts.',
      resolve: ({ onConflict }) => (onConflict === 'update' ? 'update' : 'skip'),
    }),
    dryRun: t.exposeBoolean('dryRun', { description: 'A dry run reports what it would write, and writes nothing.' }),
    createFields: t.exposeBoolean('createFields', {
      description: 'Whether unknown columns become new custom fields.',
    }),
    skipInvalid: t.exposeBoolean('skipInvalid', {
      description:
        'Whether a row with an invalid name or custom field is skipped; otherwise it is imported without that value.',
    }),
    fileExpiresAt: t.expose('fileExpiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a completed dry run can no longer be executed; null if its file is not kept.',
    }),
    executedAsId: t.exposeID('executedAsId', {
      nullable: true,
      description: 'The import that executed this dry run.',
    }),
    causes: t.field({
      type: [ImportCause],
      description: 'The causes of the row errors, the most frequent first; at most 200.',
      complexity: { field: 1, multiplier: 10 },
      resolve: async ({ id, skipInvalid }, _args, context) =>
        ((await loadCauses(context, id)) ?? []).map((cause) => ({ ...cause, fix: fixFor(cause, skipInvalid) })),
    }),
    groupId: t.exposeID('groupId', {
      nullable: true,
      description: 'The group that imported contacts join; a new group is set once it has its first member.',
    }),
    groupName: t.exposeString('groupName', {
      nullable: true,
      description: 'The name of the group, if it was specified.',
      ...atMost(MAX_NAME_LENGTH),
    }),
    cancelRequestedAt: t.expose('cancelRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was canceled; it stops after the rows that are being written.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the upload began.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When writing rows began.',
    }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    workflowUrl: t.string({
      nullable: true,
      description: 'Its workflow in the Temporal UI; null if the UI address is not configured.',
      resolve: ({ id }) => workflowUrl(id),
    }),
    errors: t.connection(
      {
        type: ImportRowError,
        description: 'The row errors, in file order.',
        resolve: ({ id }, args, context) => listErrors(context, id, args),
      },
      ...relayNames('ImportError'),
    ),
  }),
});

registerNode('imp', 'Import', (context, ids) => findImports(callerProject(context), ids), 'read', {
  select: `SELECT id, file_name AS name FROM imports WHERE id = ANY ($1::text[]) AND project_id = $2`,
});

const importId = { required: true, description: 'Import id.' } as const;

builder.queryFields((t) => ({
  import: t.field({
    type: Import,
    description: 'An import of the project; `not_found` if it does not exist.',
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
    description: 'The current import, then an update whenever it has made progress, until it has ended.',
    args: { id: t.arg.id(importId) },
    subscribe: (_root, { id }, context) => watchImport(callerProject(context), id),
    resolve: (row) => row,
  }),
);

const ImportColumnsInput = builder.inputType('ImportColumnsInput', {
  description:
    'The column mapping, by column names of the file (case-insensitive). Omitted mappings are derived from the names. ' +
    'A column without a name is called `column 3`; one whose name an earlier column has, `Notes (column 3)`.',
  fields: (t) => ({
    email: t.string({ description: 'The address column.' }),
    reason: t.string({ description: 'The column of suppression reasons.' }),
    name: t.stringList({ description: 'The columns that form the name, joined by a space; an empty list for none.' }),
    customFields: t.field({
      type: 'JSON',
      description: 'Column names by custom-field key; an empty object for none.',
      ...JSON_OBJECT,
    }),
  }),
});

const ImportContactsInput = builder.inputType('ImportContactsInput', {
  description: 'Options for importing a file of contacts or suppressions.',
  fields: (t) => ({
    kind: t.field({ type: ImportKind, description: 'What to create from the rows; defaults to `contacts`.' }),
    reason: t.field({
      type: SuppressionReason,
      description: 'The reason of suppressions whose row has none; defaults to `manual`.',
    }),
    columns: t.field({
      type: ImportColumnsInput,
      description: 'The column mapping; derived from the column names by default.',
    }),
    onConflict: t.field({
      type: OnConflict,
      description: 'What to do with existing contacts; defaults to `skip`. A blank cell changes nothing.',
    }),
    dryRun: t.boolean({ description: 'Writes nothing; counts and errors are those of the real import.' }),
    createFields: t.boolean({
      description: 'Creates a custom field for each unknown column, with the type of its values.',
    }),
    skipInvalid: t.boolean({
      description:
        'Skips rows with an invalid name or custom field. By default they are imported without the invalid value.',
    }),
    groupId: t.id({ description: 'The group that imported contacts join.' }),
    groupName: t.string({
      description: 'The name of the group that imported contacts join; created if it does not exist.',
      ...NAME,
    }),
    encoding: t.string({ description: "The file's encoding, such as `windows-1252`; detected by default." }),
    separator: t.string({
      description: 'The character between values, or `tab`; detected by default.',
      ...jsonSchema({ minLength: 1, maxLength: 3 }),
    }),
    fileName: t.string({ description: 'The filename to display.' }),
  }),
});

builder.inputType('ExportSuppressionsInput', {
  description: 'The filters of an export of suppressions.',
  fields: (t) => ({
    reason: t.field({ type: SuppressionReason, description: 'Suppressions with this reason.' }),
  }),
});

builder.inputType('ExportContactsInput', {
  description: 'The filters of the contact list, and the format of the export.',
  fields: (t) => ({
    ids: t.idList({ description: 'Only these contacts; at most 1,000.' }),
    where: t.field({ type: 'JSON', description: 'Contacts that match this segment filter, which is not saved.' }),
    email: t.string({ description: 'The full address, case-insensitive.' }),
    search: t.string({ description: 'Part of the address or name, case-insensitive.' }),
    groupId: t.id({ description: 'Members of this group.' }),
    segmentId: t.id({ description: 'Contacts in this segment.' }),
    suppressed: t.boolean({ description: 'True for suppressed contacts, false for the others.' }),
    source: t.field({ type: ContactSource, description: 'Where they came from.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Added after this instant.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Added before this instant.' }),
    raw: t.boolean({
      description:
        "Exports values unchanged. By default, values that a spreadsheet would run as a formula are prefixed with a `'`.",
    }),
    bom: t.boolean({
      description:
        'Starts the file with a byte order mark, which tells Excel that it is UTF-8. Files that the dashboard downloads have one.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createImport: t.field({
    type: Import,
    description: 'Creates an import. Upload the file in parts, then start the import.',
    args: { input: t.arg({ type: ImportContactsInput, required: true, description: 'The import options.' }) },
    resolve: async (_root, { input }, context) => {
      const projectId = callerProject(context);
      return createImport(projectId, await checkOptions(projectId, input), authenticated(context).id);
    },
  }),
  addImportPart: t.field({
    type: Import,
    description: 'Uploads one part of the file. A part may be uploaded again.',
    args: {
      id: t.arg.id(importId),
      number: t.arg.int({ required: true, description: 'The part number, from 0.' }),
      data: t.arg.string({
        required: true,
        description: `The part in base64, at most ${MAX_PART_BYTES} bytes when decoded.`,
      }),
    },
    resolve: async (_root, { id, number, data }, context) => {
      if (number < 0 || number > 9_999) throw invalid({ field: 'number', message: 'must be between 0 and 9999' });
      await addPart(callerProject(context), id, number, Buffer.from(data, 'base64'));
      return getImport(callerProject(context), id);
    },
  }),
  startImport: t.field({
    type: Import,
    description: 'Starts an import after its whole file has been uploaded.',
    args: { id: t.arg.id(importId) },
    resolve: async (_root, { id }, context) => {
      await startImport(callerProject(context), id);
      return getImport(callerProject(context), id);
    },
  }),
  executeDryRun: t.field({
    type: Import,
    description:
      'Imports the file of a completed dry run with its options; `conflict` if the file is no longer kept. Returns the new import.',
    args: {
      id: t.arg.id({ required: true, description: 'Import id of the dry run.' }),
      skipInvalid: t.arg.boolean({ description: 'Replaces the option `skipInvalid` of the dry run.' }),
    },
    resolve: async (_root, { id, skipInvalid }, context) => {
      const created = await executeDryRun(callerProject(context), id, { skipInvalid });
      return getImport(callerProject(context), created);
    },
  }),
  cancelImport: t.field({
    type: Import,
    description: 'Cancels an import; contacts already written stay. `conflict` when it has ended.',
    args: { id: t.arg.id(importId) },
    resolve: async (_root, { id }, context) => {
      await cancelImport(callerProject(context), id);
      return getImport(callerProject(context), id);
    },
  }),
}));
