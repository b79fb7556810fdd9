import {
  created,
  found,
  gql,
  MAX_ID_LENGTH,
  page,
  PAGE,
  PAGE_ARGS,
  restPath,
  type Route,
  type StreamRoute,
} from '@postroom/platform';
import { streamErrors } from './errors.ts';
import { streamExport } from './export.ts';
import { streamSuppressions } from './suppressions-export.ts';
import { uploadImport } from './upload.ts';

const tag = 'Imports';
const IMPORT = `id status kind reason progress counts { rows created updated unchanged duplicates suppressed invalid incomplete } error
  fileName size encoding separator columns { name fields type isNew } onConflict dryRun createFields skipInvalid groupId groupName
  cancelRequestedAt createdAt startedAt finishedAt fileExpiresAt executedAsId`;
const CAUSES = 'causes { field message value rows firstLine fix }';

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/imports',
    needs: 'full',
    tag,
    summary: 'List imports, newest first',
    document: gql`query (${PAGE_ARGS}) {
      imports(first: $limit, after: $cursor) { nodes { ${IMPORT} } ${PAGE} }
    }`,
    reply: page('imports'),
  },
  {
    method: 'GET',
    path: '/v1/imports/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve an import with its progress',
    document: gql`query ($id: ID!) { import(id: $id) { ${IMPORT} ${CAUSES} } }`,
    // `/v1` names fields in snake_case.
    reply: found('import', { problems: { causes: restPath } }),
  },
  {
    method: 'POST',
    path: '/v1/imports/{id}/cancel',
    needs: 'full',
    tag,
    summary: 'Cancel an import; contacts already written stay',
    document: gql`mutation ($id: ID!) { cancelImport(id: $id) { ${IMPORT} } }`,
    reply: found('cancelImport'),
  },
  {
    method: 'POST',
    path: '/v1/imports/{id}/execute',
    needs: 'full',
    tag,
    summary: 'Import the file of a dry run',
    document: gql`mutation ($id: ID!, $skipInvalid: Boolean) {
      executeDryRun(id: $id, skipInvalid: $skipInvalid) { ${IMPORT} }
    }`,
    reply: created('executeDryRun'),
    example: { skip_invalid: false },
  },
];

const CSV = { 'text/csv': { type: 'string' } };
const ACCEPTED = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: ['id', 'status'],
      properties: {
        id: { type: 'string', maxLength: MAX_ID_LENGTH, description: 'Import id.' },
        status: { type: 'string', const: 'queued', description: 'It begins as soon as a worker is free.' },
      },
    },
  },
};

export const streams: StreamRoute[] = [
  {
    method: 'POST',
    path: '/v1/imports',
    needs: 'full',
    tag,
    operationId: 'importContacts',
    summary: 'Import a CSV file of contacts or suppressions',
    description: `Takes a file of at most 200 MB and 2,000,000 lines, and imports it in the background; with \`kind\`
\`suppressions\`, its addresses become suppressions. Send it as
\`multipart/form-data\` in a part called \`file\`, with the options as JSON in a part called \`options\`, or as a body of type
\`text/csv\` with the options in the query. The response is sent once the file is stored.`.replaceAll('\n', ' '),
    options: 'ImportContactsInput',
    takes: {
      'multipart/form-data': {
        type: 'object',
        required: ['file'],
        properties: {
          file: { type: 'string', contentMediaType: 'text/csv', description: 'The file.' },
          options: { $ref: 'options' },
        },
      },
      'text/csv': { type: 'string', description: 'The file.' },
    },
    answers: {
      status: 202,
      description: 'Accepted: it is done in the background.',
      content: { 'application/json': ACCEPTED },
    },
    answer: uploadImport,
  },
  {
    method: 'GET',
    path: '/v1/imports/{id}/errors',
    needs: 'full',
    tag,
    operationId: 'downloadImportErrors',
    summary: 'Download the row errors of an import',
    description: 'A CSV file of `line`, `field` and `message`, in the order of the file. Lines are counted from 1.',
    answers: { status: 200, description: 'The errors.', content: CSV },
    answer: streamErrors,
  },
  {
    method: 'GET',
    path: '/v1/contacts/export',
    needs: 'full',
    tag: 'Contacts',
    operationId: 'exportContacts',
    summary: 'Export contacts as a CSV file, newest first',
    description:
      `All contacts that pass every filter given, those of one moment, with their custom fields. Values that a
spreadsheet would run as a formula begin with a \`'\`, which an import takes away again. Groups are not in
the file, because a contact may be in hundreds: to move them, export each with \`group_id\` and import that file with \`group_name\`.`.replaceAll(
        '\n',
        ' ',
      ),
    options: 'ExportContactsInput',
    errors: ['not_found'],
    answers: { status: 200, description: 'The contacts.', content: CSV },
    answer: streamExport,
  },
  {
    method: 'GET',
    path: '/v1/suppressions/export',
    needs: 'full',
    tag: 'Suppressions',
    operationId: 'exportSuppressions',
    summary: 'Export suppressions as a CSV file, newest first',
    description: 'A CSV file of `email`, `reason`, `origin` and `created_at`. Addresses that were erased are left out.',
    options: 'ExportSuppressionsInput',
    answers: { status: 200, description: 'The suppressions.', content: CSV },
    answer: streamSuppressions,
  },
];
