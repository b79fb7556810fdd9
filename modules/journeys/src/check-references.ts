import { customFieldKey, type Definition, type DefinitionProblem, type Step } from '@postroom/journey-definition';
import { checkSegmentFilter, schemaOf, timeZoneFieldProblem } from '@postroom/contacts';
import { checkSenderMailbox, emptyPlaceholders } from '@postroom/emails';
import {
  coalesceReads,
  config,
  db,
  DomainError,
  newUrlProblem,
  notFound,
  MAX_NAME_LENGTH,
  oneLineProblem,
} from '@postroom/platform';
import { LRUCache } from 'lru-cache';
import { postalAddressOf } from '@postroom/projects';
import { isAlwaysBlank, parseTemplate } from '@postroom/templating';
import { senderStatus } from '@postroom/transports';
import { coerce, valueProblem } from '@postroom/custom-fields';

/** A check of what a field names. Rules throw a DomainError if it does not exist. */
interface Check {
  field: string;
  stepId?: string;
  run: () => Promise<unknown>;
}

/**
 * Checks what a definition refers to: templates, senders, groups, segments, custom fields and filters. Returns the definition
 * with normalized filters, and the problems.
 */
export async function checkReferences(
  projectId: string,
  definition: Definition,
): Promise<{ definition: Definition; problems: DefinitionProblem[] }> {
  const checked = structuredClone(definition);
  const { entry } = checked;
  const checks: Check[] = [];
  if (entry.filter !== undefined)
    checks.push({
      field: 'definition.entry.filter',
      run: async () => (entry.filter = await checkSegmentFilter(projectId, entry.filter, '')),
    });
  if (entry.type === 'group_joined')
    checks.push({ field: 'definition.entry.groupId', run: () => checkGroup(projectId, entry.groupId) });
  if (entry.type === 'form_confirmed')
    checks.push({ field: 'definition.entry.formId', run: () => checkForm(projectId, entry.formId) });
  if (entry.type === 'segment_entered' || entry.type === 'segment_left')
    checks.push({ field: 'definition.entry.segmentId', run: () => checkSegment(projectId, entry.segmentId) });
  if (entry.type === 'date')
    checks.push({ field: 'definition.entry.field', run: () => checkDateField(projectId, entry.field) });
  const { timeZoneField } = checked;
  if (timeZoneField !== undefined)
    checks.push({ field: 'definition.timeZoneField', run: () => checkTimeZoneField(projectId, timeZoneField) });
  for (const [index, step] of checked.steps.entries())
    for (const { field, run } of checksOf(projectId, step))
      checks.push({ field: `definition.steps.${index}.${field}`, stepId: step.id, run });
  const problems = await Promise.all(checks.map(problemsOf));
  return { definition: checked, problems: problems.flat() };
}

async function problemsOf({ field, stepId, run }: Check): Promise<DefinitionProblem[]> {
  const of = stepId === undefined ? '' : ` (step "${stepId}")`;
  try {
    await run();
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.details.length === 0) return [{ field, message: `${error.message}${of}`, stepId }];
    return error.details.map((detail) => ({
      field: [field, detail.field.replace(/^\./, '')].filter((part) => part !== '').join('.'),
      message: `${detail.message}${of}`,
      stepId,
    }));
  }
}

function checksOf(projectId: string, step: Step): Check[] {
  switch (step.type) {
    case 'send':
      return [
        { field: 'templateId', run: () => checkTemplate(projectId, step.templateId) },
        { field: 'from', run: () => checkSender(projectId, step.from) },
        ...(step.replyTo == null ? [] : [{ field: 'replyTo', run: async () => mailbox(step.replyTo ?? '') }]),
      ];
    case 'condition': {
      const { segmentId } = step;
      return [
        ...(segmentId === undefined ? [] : [{ field: 'segmentId', run: () => checkSegment(projectId, segmentId) }]),
        ...(step.filter === undefined
          ? []
          : [
              {
                field: 'filter',
                run: async () => (step.filter = await checkSegmentFilter(projectId, step.filter, '')),
              },
            ]),
      ];
    }
    case 'join_group':
    case 'leave_group':
      return [{ field: 'groupId', run: () => checkGroup(projectId, step.groupId) }];
    case 'update_field':
      return [{ field: 'value', run: () => checkField(projectId, step.field, step.value) }];
    case 'webhook':
      return [{ field: 'url', run: async () => checkUrl(step.url) }];
    case 'notify':
      return [{ field: 'memberIds', run: () => checkMembers(projectId, step.memberIds ?? []) }];
    default:
      return [];
  }
}

const problem = (message: string) => new DomainError('validation_error', message);

/** Reads rows by id. The drafts of a list are checked at the same time, and share a statement for each kind of row. */
const byId = <Row extends { id: string; projectId: string }>(kind: string, find: (ids: string[]) => Promise<Row[]>) => {
  const read = coalesceReads<Row>(async (ids) => new Map((await find([...ids])).map((row) => [row.id, row])));
  return async (projectId: string, id: string): Promise<Row> => {
    const row = await read(id);
    if (row?.projectId !== projectId) throw notFound(kind);
    return row;
  };
};

const getTemplate = byId('template', (ids) =>
  db.template.findMany({
    where: { id: { in: ids } },
    select: { id: true, projectId: true, status: true, subject: true, publishedVersion: true },
  }),
);
const getContent = byId('template', (ids) =>
  db.template.findMany({
    where: { id: { in: ids } },
    select: { id: true, projectId: true, subject: true, body: true },
  }),
);
const checkGroup = byId('group', (ids) =>
  db.group.findMany({ where: { id: { in: ids } }, select: { id: true, projectId: true } }),
);
const checkForm = byId('form', (ids) =>
  db.form.findMany({ where: { id: { in: ids } }, select: { id: true, projectId: true } }),
);
const checkSegment = byId('segment', (ids) =>
  db.segment.findMany({ where: { id: { in: ids } }, select: { id: true, projectId: true } }),
);

/** What placeholders of a message may show, besides the event and responses, which are known only when they arrive. */
interface Known {
  projectId: string;
  templateId: string;
  /** Fields of every contact, and the project's custom fields. */
  names: string[];
  postalAddress: string | null;
}

/**
 * The placeholders of a template that no contact has a value for, by the published version and what is known. Filling in a template
 * takes milliseconds, and a journey's problems are shown each time that it is read.
 */
const unknownPlaceholders = new LRUCache<string, string[], Known>({
  max: 2_000,
  ignoreFetchAbort: true,
  fetchMethod: async (_key, _stale, { context: { projectId, templateId, names, postalAddress } }) => {
    const template = await getContent(projectId, templateId);
    const values = { ...Object.fromEntries(names.map((name) => [name, 'x'])), postal_address: postalAddress };
    const empty = await emptyPlaceholders(projectId, template, values);
    return empty.filter((name) => !/^(event|steps)\b/.test(name));
  },
});

async function checkTemplate(projectId: string, id: string): Promise<void> {
  const { status, subject, publishedVersion } = await getTemplate(projectId, id);
  if (status !== 'published') throw problem('is not published');
  if ((subject ?? '').trim() === '') throw problem('has no subject');
  if (isAlwaysBlank(parseTemplate(subject ?? '', 'subject'))) throw problem('has a subject that shows nothing');
  // A contact gets no message if a placeholder is of none of its fields and has no default, so no contact would get this one.
  const [fields, postalAddress] = await Promise.all([schemaOf(projectId), postalAddressOf(projectId)]);
  const names = ['name', 'email', 'unsubscribe_url', 'view_in_browser_url', ...[...fields.keys()].toSorted()];
  const key = JSON.stringify([id, publishedVersion, postalAddress, names]);
  const context = { projectId, templateId: id, names, postalAddress };
  const empty = await unknownPlaceholders.forceFetch(key, { context });
  if (empty.includes('postal_address')) throw problem('shows {{postal_address}}, which is not set for the project');
  const shown = empty.map((name) => `{{${name}}}`).join(', ');
  if (empty.length > 0) throw problem(`shows ${shown} without a default, but contacts have no such field`);
}

function mailbox(text: string) {
  const read = checkSenderMailbox(text);
  if (typeof read === 'string') throw problem(read);
  return read;
}

function checkUrl(url: string): void {
  const reason = newUrlProblem(url, config.webhookScope);
  if (reason !== undefined) throw problem(reason);
}

async function checkMembers(projectId: string, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return;
  const members = await db.member.findMany({
    where: { projectId, userId: { in: [...userIds] } },
    select: { userId: true },
  });
  const known = new Set(members.map(({ userId }) => userId));
  const missing = userIds.find((id) => !known.has(id));
  if (missing !== undefined) throw problem(`"${missing}" is not a member of this project`);
}

/** Keyed by project and address. Most steps of a journey have the same sender. */
const senderProblem = coalesceReads<string | undefined>(async (keys) => {
  const read = async (key: string) => {
    const space = key.indexOf(' ');
    return [key, (await senderStatus(key.slice(0, space), key.slice(space + 1))).problem] as const;
  };
  return new Map(await Promise.all(keys.map(read)));
});

async function checkSender(projectId: string, from: string): Promise<void> {
  const reason = await senderProblem(`${projectId} ${mailbox(from).email}`);
  if (reason !== undefined) throw problem(reason);
}

/** Checks that a custom field exists, and that it takes the value if one is given. */
async function checkField(projectId: string, name: string, value?: string | number | boolean | null): Promise<void> {
  if (name === 'name') {
    if (value === undefined || value === null) return;
    if (typeof value !== 'string') throw problem('must be a string');
    const reason = oneLineProblem(value, MAX_NAME_LENGTH);
    if (reason !== undefined) throw problem(reason);
    return;
  }
  const key = customFieldKey(name);
  const field = (await schemaOf(projectId)).get(key);
  if (field === undefined) throw problem(`"${key}" is not a custom field of this project`);
  if (value !== undefined && coerce(value, field) === undefined) throw problem(valueProblem(value, field));
}

async function checkTimeZoneField(projectId: string, name: string): Promise<void> {
  const reason = timeZoneFieldProblem(await schemaOf(projectId), customFieldKey(name));
  if (reason !== undefined) throw problem(reason);
}

async function checkDateField(projectId: string, name: string): Promise<void> {
  const key = customFieldKey(name);
  const field = (await schemaOf(projectId)).get(key);
  if (field?.type !== 'date') throw problem(`"${key}" is not a custom field of this project with a date`);
}
