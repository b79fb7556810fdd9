import { type EventType, MAX_ID_LENGTH, MAX_NAME_LENGTH, type NewEvent } from '@postroom/platform';
import { z } from 'zod';

const count = (description: string) => z.number().int().describe(description);

const ended = z.object({
  import_id: z.string().max(MAX_ID_LENGTH).describe('Import id.'),
  kind: z.enum(['contacts', 'suppressions']).describe('What the import creates from the rows.'),
  file_name: z.string().max(MAX_NAME_LENGTH).nullable().describe('The filename, if it is known.'),
  dry_run: z.boolean().describe('Whether it was a dry run, which writes nothing.'),
  rows: count('Rows processed: the sum of the other numbers.'),
  created: count('Rows that became new contacts or suppressions, or would in a dry run.'),
  updated: count('Rows that changed contacts.'),
  unchanged: count('Rows that changed nothing.'),
  duplicates: count('Rows with the address of an earlier row.'),
  suppressed: count('Rows with a new address that is suppressed.'),
  invalid: count('Rows that are not valid contacts or suppressions.'),
});

const example = {
  import_id: 'imp_01k9zq3v5re8rt5xw7m2n4p6q8',
  kind: 'contacts',
  file_name: 'customers.csv',
  dry_run: false,
  rows: 1200,
  created: 1150,
  updated: 30,
  unchanged: 10,
  duplicates: 4,
  suppressed: 1,
  invalid: 5,
};

const WHY = 'Why it failed, or was canceled by Postroom, as a sentence.';

export const eventTypes = {
  'import.completed': { fires: 'An import has processed all rows of its file.', data: ended, example },
  'import.failed': {
    fires: 'An import failed. Rows that were written before stay.',
    data: ended.extend({ error: z.string().describe(WHY) }),
    example: { ...example, error: 'The file has no column with email addresses.' },
  },
  'import.canceled': {
    fires: 'An import was canceled. Rows that were written before stay.',
    data: ended.extend({ error: z.string().nullable().describe(WHY) }),
    example: { ...example, error: null },
  },
} satisfies Record<string, EventType>;

/** How an import ends. */
export type FinalStatus = 'completed' | 'failed' | 'canceled';

export type EndedImport = z.infer<typeof ended> & { error: string | null };

/** The columns of an `EndedImport`. */
export const ENDED_COLUMNS =
  'id AS import_id, kind, file_name, dry_run, rows, created, updated, unchanged, duplicates, suppressed, invalid, error';

/** An import ended with a status. */
export const importEnded = (status: FinalStatus, { error, ...data }: EndedImport): NewEvent => ({
  type: `import.${status}`,
  data: status === 'completed' ? data : { ...data, error },
});
