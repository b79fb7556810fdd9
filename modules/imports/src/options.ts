import { type OnConflict, ON_CONFLICT, type SuppressionReason } from '@postroom/contacts';
import {
  assertValid,
  type FieldProblem,
  isId,
  pool,
  textProblem,
  MAX_NAME_LENGTH,
  displayNameProblem,
  oneLineProblem,
  normalizeText,
} from '@postroom/platform';

/** What the rows of a file become. */
export type ImportKind = 'contacts' | 'suppressions';

/** The column mapping, by column names of the file. Omitted mappings are derived from the names. */
interface Mapping {
  email?: string | null | undefined;
  /** Columns joined by a space; an empty list for no name. */
  name?: readonly string[] | null | undefined;
  /** Column names by custom-field key; an empty object for none. */
  customFields?: unknown;
  /** The column of suppression reasons. */
  reason?: string | null | undefined;
}

/** The options of an import. */
export interface ImportOptions {
  fileName?: string | null | undefined;
  kind?: ImportKind | null | undefined;
  /** The reason of suppressions whose row has none. */
  reason?: SuppressionReason | null | undefined;
  columns?: Mapping | null | undefined;
  onConflict?: OnConflict | null | undefined;
  dryRun?: boolean | null | undefined;
  createFields?: boolean | null | undefined;
  /** Whether a row with an invalid name or custom field is skipped, instead of imported without that value. */
  skipInvalid?: boolean | null | undefined;
  groupId?: string | null | undefined;
  groupName?: string | null | undefined;
  encoding?: string | null | undefined;
  separator?: string | null | undefined;
}

/** Validated options, as stored in the import. */
export interface CheckedOptions {
  fileName: string | null;
  kind: ImportKind;
  /** Null for contacts. */
  reason: SuppressionReason | null;
  mapping: CheckedMapping | null;
  onConflict: OnConflict;
  dryRun: boolean;
  createFields: boolean;
  skipInvalid: boolean;
  groupId: string | null;
  groupName: string | null;
  encoding: string | null;
  separator: string | null;
}

export interface CheckedMapping {
  email?: string;
  name?: readonly string[];
  customFields?: Record<string, string>;
  reason?: string;
}

/** @throws DomainError `validation_error` naming each invalid option. */
export async function checkOptions(projectId: string, options: ImportOptions): Promise<CheckedOptions> {
  const problems: FieldProblem[] = [];
  const problem = (field: string, message: string) => {
    problems.push({ field, message });
    return null;
  };
  const { fileName, onConflict, dryRun, createFields, skipInvalid, groupId, groupName, encoding, separator } = options;
  const kind = options.kind ?? 'contacts';
  for (const field of unusedBy(kind, options)) problem(field, `is not used by an import of ${kind}`);
  if (groupId != null && groupName != null) problem('groupName', 'must not be combined with groupId');
  if (groupId != null && !(await isGroup(projectId, groupId))) problem('groupId', 'is not a group of this project');
  const nameProblem = groupName == null ? undefined : displayNameProblem(groupName);
  if (nameProblem !== undefined) problem('groupName', nameProblem);
  const shownFile = fileName?.split(/[/\\]/).at(-1)?.slice(0, MAX_NAME_LENGTH).toWellFormed();
  const fileProblem = shownFile === undefined ? undefined : oneLineProblem(shownFile, MAX_NAME_LENGTH);
  if (fileProblem !== undefined) problem('fileName', fileProblem);
  const checked: CheckedOptions = {
    fileName: shownFile?.trim() ?? null,
    kind,
    reason: kind === 'suppressions' ? (options.reason ?? 'manual') : null,
    mapping: options.columns == null ? null : checkMapping(options.columns, problem),
    onConflict: onConflict ?? ON_CONFLICT[0],
    dryRun: dryRun ?? false,
    createFields: createFields ?? false,
    skipInvalid: skipInvalid ?? false,
    groupId: groupId ?? null,
    groupName: groupName == null ? null : normalizeText(groupName),
    encoding: encoding == null ? null : (encodingNamed(encoding) ?? problem('encoding', 'is not a known encoding')),
    separator:
      separator == null ? null : (separatorNamed(separator) ?? problem('separator', 'must be one character, or tab')),
  };
  assertValid(problems);
  return checked;
}

/** The given options that have no meaning for a kind of import. */
function unusedBy(kind: ImportKind, options: ImportOptions): string[] {
  const { columns, onConflict, createFields, skipInvalid, groupId, groupName, reason } = options;
  const ofContacts = {
    'columns.name': columns?.name,
    'columns.customFields': columns?.customFields,
    onConflict,
    createFields,
    skipInvalid,
    groupId,
    groupName,
  };
  const unused = kind === 'contacts' ? { 'columns.reason': columns?.reason, reason } : ofContacts;
  return Object.entries(unused).flatMap(([field, value]) => (value == null ? [] : [field]));
}

async function isGroup(projectId: string, id: string): Promise<boolean> {
  if (!isId('grp', id)) return false;
  const { rowCount } = await pool.query('SELECT 1 FROM groups WHERE project_id = $1 AND id = $2', [projectId, id]);
  return rowCount === 1;
}

function encodingNamed(label: string): string | undefined {
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    return undefined;
  }
}

function separatorNamed(given: string): string | undefined {
  const separator = /^(\\t|tab)$/i.test(given) ? '\t' : given;
  return separator.length === 1 && !/["\r\n\0]/.test(separator) ? separator : undefined;
}

function checkMapping(
  { email, name, customFields, reason }: Mapping,
  problem: (field: string, message: string) => null,
): CheckedMapping {
  const fields = customFields ?? undefined;
  const isObject = typeof fields === 'object' && !Array.isArray(fields);
  if (fields !== undefined && !isObject) problem('columns', 'must be an object of column names by custom-field key');
  const entries = isObject ? Object.entries(fields) : [];
  for (const [key, column] of entries) {
    if (typeof column !== 'string' || textProblem(column) !== undefined)
      problem('columns', `must have a column name for the custom field ${key}`);
  }
  return {
    ...(email != null && { email }),
    ...(reason != null && { reason }),
    ...(name != null && { name }),
    ...(isObject && { customFields: Object.fromEntries(entries) as Record<string, string> }),
  };
}
