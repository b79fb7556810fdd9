import {
  type Contact,
  type ContactFilter,
  contactsStatement,
  type CustomFieldValue,
  listCustomFields,
  valueOfField,
} from '@postroom/contacts';
import { csvLine, guard } from '@postroom/csv';
import { readInBatches, streamSpooled } from '@postroom/downloads';
import type { StreamExchange } from '@postroom/platform';
import { EXPORTED_FACTS } from './plan.ts';

export interface ExportOptions extends ContactFilter {
  /** Exports values unchanged, even those that a spreadsheet would run as a formula. */
  raw?: boolean | null | undefined;
}

/**
 * The lines of a CSV file with all contacts that pass every filter, newest first, from one snapshot. Formulas are
 * guarded with a `'`, which imports remove, unless `raw` is set.
 * @throws DomainError before the first line, as `contactsStatement`.
 */
export async function* exportContacts(
  projectId: string,
  { raw, ...filter }: ExportOptions,
): AsyncGenerator<string, void> {
  const { text, values, check } = await contactsStatement(projectId, filter);
  const keys = (await listCustomFields(projectId, { first: 1000 })).edges.map(({ node }) => node.key).reverse();
  const write = raw === true ? (value: string) => value : guard;
  // With the first batch, so that an error of the check is not in the middle of a file.
  let header = csvLine(['email', 'name', ...keys, ...EXPORTED_FACTS]);
  for await (const contacts of readInBatches<Contact>(text, values, check)) {
    yield header + contacts.map((contact) => csvLine(valuesOf(contact, keys, write))).join('');
    header = '';
  }
  if (header !== '') yield header;
}

function valuesOf(contact: Contact, keys: readonly string[], write: (text: string) => string): string[] {
  const { id, email, name, hasName, customFields, source, suppressionStatus, createdAt, updatedAt } = contact;
  // A number is not a formula, whatever its sign.
  const shown = (value: CustomFieldValue) => (typeof value === 'string' ? write(value) : String(value));
  const own = (key: string) => shown(valueOfField(customFields, key) ?? '');
  return [
    write(email),
    hasName ? write(name) : '', // so that an import of the file leaves it without a name
    ...keys.map(own),
    id,
    source,
    suppressionStatus,
    createdAt.toISOString(),
    updatedAt.toISOString(),
  ];
}

/**
 * Streams an export, with back pressure.
 * @throws DomainError as `exportContacts`, and `rate_limited` when the caller or the project has too many downloads.
 */
export async function streamExport(exchange: StreamExchange): Promise<undefined> {
  const { projectId, options } = exchange;
  const name = `contacts-${new Date().toISOString().slice(0, 10)}.csv`;
  await streamSpooled(exchange, name, exportContacts(projectId, options));
}
