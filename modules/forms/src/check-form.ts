import { readSchema } from '@postroom/contacts';
import { checkSenderMailbox } from '@postroom/emails';
import {
  assertValid,
  db,
  displayNameProblem,
  type FieldProblem,
  MAX_NAME_LENGTH,
  oneLineProblem,
  pool,
  type Prisma,
  textProblem,
  normalizeText,
} from '@postroom/platform';
import { MAX_SUBJECT_LENGTH } from '@postroom/templating';
import { senderStatus } from '@postroom/transports';

/** The longest description and consent text. */
export const MAX_FORM_TEXT_LENGTH = 2_000;
export const MAX_FORM_FIELDS = 20;
export const MAX_FORM_GROUPS = 20;
export const MAX_ORIGINS = 20;
export const MAX_FORM_URL_LENGTH = 2_048;
/** A link to confirm is valid for 7 days, and a reminder should leave time for it. */
export const MAX_REMINDER_HOURS = 144;
/** `custom_fields.` and the key of a custom field. */
export const MAX_FIELD_KEY_LENGTH = 100;

/** A field that a form asks for. */
export interface FormField {
  /** `name`, or `custom_fields.` and a key. */
  key: string;
  /** What the form calls it; null for `Name` or the label of the custom field. */
  label: string | null;
  required: boolean;
}

interface FormFieldInput {
  key: string;
  label?: string | null | undefined;
  required?: boolean | null | undefined;
}

/** The settings of a form as given; `undefined` means "not provided". */
export interface FormInput {
  name?: string | null | undefined;
  title?: string | null | undefined;
  description?: string | null | undefined;
  groupIds?: readonly string[] | null | undefined;
  fields?: readonly FormFieldInput[] | null | undefined;
  consentText?: string | null | undefined;
  doubleOptIn?: boolean | null | undefined;
  from?: string | null | undefined;
  replyTo?: string | null | undefined;
  subject?: string | null | undefined;
  templateId?: string | null | undefined;
  reminderAfterHours?: number | null | undefined;
  submittedUrl?: string | null | undefined;
  confirmedUrl?: string | null | undefined;
  allowedOrigins?: readonly string[] | null | undefined;
  enabled?: boolean | null | undefined;
}

/** The columns that an input writes. */
export interface FormColumns {
  name?: string;
  title?: string;
  description?: string | null;
  groupIds?: string[];
  fields?: Prisma.InputJsonArray;
  consentText?: string | null;
  doubleOptIn?: boolean;
  from?: string | null;
  replyTo?: string | null;
  subject?: string | null;
  templateId?: string | null;
  reminderAfterHours?: number | null;
  submittedUrl?: string | null;
  confirmedUrl?: string | null;
  allowedOrigins?: string[];
  enabled?: boolean;
}

/**
 * Checks the given settings of a form and returns the columns to write. Without `before` it is a new form.
 * @throws DomainError `validation_error` naming each invalid field.
 */
export async function checkForm(
  projectId: string,
  input: FormInput,
  before: { doubleOptIn: boolean; from: string | null } = { doubleOptIn: true, from: null },
): Promise<FormColumns> {
  const problems: FieldProblem[] = [];
  const add = (field: string, message: string | undefined) => {
    if (message !== undefined) problems.push({ field, message });
  };
  const data: FormColumns = {};
  for (const field of ['name', 'title'] as const) {
    const text = input[field];
    if (text == null) continue;
    add(field, displayNameProblem(text));
    data[field] = normalizeText(text);
  }
  for (const field of ['description', 'consentText'] as const) {
    const text = input[field];
    if (text === undefined) continue;
    add(field, text === null ? undefined : longTextProblem(text));
    data[field] = blankToNull(text) ?? null;
  }
  for (const field of ['submittedUrl', 'confirmedUrl'] as const) {
    const url = blankToNull(input[field]);
    if (url === undefined) continue;
    add(field, url === null ? undefined : redirectProblem(url));
    data[field] = url;
  }
  for (const field of ['from', 'replyTo'] as const) {
    const text = blankToNull(input[field]);
    if (text === undefined) continue;
    if (text !== null) add(field, await mailboxProblem(projectId, field, text));
    data[field] = text;
  }
  const subject = blankToNull(input.subject);
  if (subject !== undefined) {
    if (subject !== null) add('subject', oneLineProblem(subject, MAX_SUBJECT_LENGTH));
    data.subject = subject;
  }
  if (input.templateId !== undefined) {
    if (input.templateId !== null) add('templateId', await templateProblem(projectId, input.templateId));
    data.templateId = input.templateId;
  }
  if (input.reminderAfterHours !== undefined) {
    const hours = input.reminderAfterHours;
    if (hours !== null && (hours < 1 || hours > MAX_REMINDER_HOURS))
      add('reminderAfterHours', `must be between 1 and ${MAX_REMINDER_HOURS}`);
    data.reminderAfterHours = hours;
  }
  if (input.groupIds != null) {
    problems.push(...(await groupProblems(projectId, input.groupIds)));
    data.groupIds = [...new Set(input.groupIds)];
  }
  if (input.fields != null) {
    problems.push(...(await fieldProblems(projectId, input.fields)));
    data.fields = input.fields.map(({ key, label, required }) => ({
      key: keyOf(key),
      label: blankToNull(label) ?? null,
      required: required ?? false,
    }));
  }
  if (input.allowedOrigins != null) {
    if (input.allowedOrigins.length > MAX_ORIGINS) add('allowedOrigins', `must be at most ${MAX_ORIGINS} origins`);
    input.allowedOrigins.forEach((origin, index) => add(`allowedOrigins.${index}`, originProblem(origin)));
    data.allowedOrigins = [...new Set(input.allowedOrigins.map((origin) => origin.trim().toLowerCase()))];
  }
  if (input.doubleOptIn != null) data.doubleOptIn = input.doubleOptIn;
  if (input.enabled != null) data.enabled = input.enabled;
  const { doubleOptIn, from } = { ...before, ...data };
  if (doubleOptIn && from === null) add('from', 'is required for double opt-in');
  assertValid(problems);
  return data;
}

/** Trims a text; a blank one is none. */
function blankToNull(text: string | null | undefined): string | null | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? null : (trimmed ?? (text as null | undefined));
}

function longTextProblem(text: string): string | undefined {
  if (text.length > MAX_FORM_TEXT_LENGTH) return `must be at most ${MAX_FORM_TEXT_LENGTH} characters`;
  return textProblem(text);
}

/** Why browsers can't be sent to a URL. */
function redirectProblem(text: string): string | undefined {
  // The URL parser would drop tabs and line breaks.
  const problem = oneLineProblem(text, MAX_FORM_URL_LENGTH);
  if (problem !== undefined) return problem;
  const url = URL.parse(text);
  if (url === null || !isWeb(url)) return 'must be an https:// or http:// URL';
  if (url.username !== '' || url.password !== '') return 'must not contain a username or password';
  return undefined;
}

function originProblem(text: string): string | undefined {
  const url = text.length > MAX_FORM_URL_LENGTH ? null : URL.parse(text.trim());
  if (url === null || !isWeb(url) || url.origin !== text.trim().toLowerCase() || url.host.includes('*'))
    return 'must be an origin such as https://www.example.com';
  return undefined;
}

const isWeb = ({ protocol }: URL) => protocol === 'https:' || protocol === 'http:';

async function mailboxProblem(projectId: string, field: 'from' | 'replyTo', text: string): Promise<string | undefined> {
  const mailbox = checkSenderMailbox(text);
  if (typeof mailbox === 'string') return mailbox;
  return field === 'from' ? (await senderStatus(projectId, mailbox.email)).problem : undefined;
}

/** The variable of a template that becomes the link. */
export const CONFIRM_URL = 'confirm_url';

async function templateProblem(projectId: string, id: string): Promise<string | undefined> {
  const template = await db.template.findFirst({ where: { id, projectId }, select: { status: true, body: true } });
  if (template === null) return 'is not a template of this project';
  if (template.status !== 'published') return 'is not published';
  return template.body.includes(CONFIRM_URL) ? undefined : `must contain a link to {{${CONFIRM_URL}}}`;
}

async function groupProblems(projectId: string, ids: readonly string[]): Promise<FieldProblem[]> {
  if (ids.length > MAX_FORM_GROUPS)
    return [{ field: 'groupIds', message: `must be at most ${MAX_FORM_GROUPS} groups` }];
  const groups = await db.group.findMany({ where: { projectId, id: { in: [...ids] } }, select: { id: true } });
  const known = new Set(groups.map(({ id }) => id));
  return ids.flatMap((id, index) =>
    known.has(id) ? [] : [{ field: `groupIds.${index}`, message: 'is not a group of this project' }],
  );
}

/** What the key of a custom field begins with in `fields` and in the names of inputs. */
export const CUSTOM_PREFIX = 'custom_fields.';

/** The key of a field as it is stored: `customFields.plan` is `custom_fields.plan`. */
const keyOf = (key: string) => key.trim().replace(/^customFields\./, CUSTOM_PREFIX);

async function fieldProblems(projectId: string, fields: readonly FormFieldInput[]): Promise<FieldProblem[]> {
  if (fields.length > MAX_FORM_FIELDS)
    return [{ field: 'fields', message: `must be at most ${MAX_FORM_FIELDS} fields` }];
  const schema = await readSchema(pool, projectId);
  const keys = fields.map(({ key }) => keyOf(key));
  return fields.flatMap(({ label }, index) => {
    const found: FieldProblem[] = [];
    const key = keys[index] ?? '';
    if (key !== 'name' && !(key.startsWith(CUSTOM_PREFIX) && schema.has(key.slice(CUSTOM_PREFIX.length))))
      found.push({
        field: `fields.${index}.key`,
        message: 'must be `name`, or `custom_fields.` and the key of a custom field',
      });
    else if (keys.indexOf(key) !== index) found.push({ field: `fields.${index}.key`, message: 'must not be repeated' });
    const problem = label == null ? undefined : oneLineProblem(label, MAX_NAME_LENGTH);
    if (problem !== undefined) found.push({ field: `fields.${index}.label`, message: problem });
    return found;
  });
}
