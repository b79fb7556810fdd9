import {
  assertValid,
  conflictIfTaken,
  db,
  DomainError,
  invalid,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  type Prisma,
  readRows,
  type RowsQuery,
  versionConflict,
} from '@postroom/platform';
import { asSubmitted, type ContentFormat, readBody } from './formats.ts';
import { placeholderProblems } from './problems.ts';

type Template = Prisma.TemplateModel;
type Version = Prisma.TemplateVersionModel;

export interface TemplateInput {
  name?: string | null | undefined;
  subject?: string | null | undefined;
  body?: string | null | undefined;
  /** The language of the body; defaults to HTML. */
  format?: ContentFormat | null | undefined;
}

/**
 * Creates a draft with its first version. `authorId` is `usr_…` or `key_…`.
 * @throws DomainError `validation_error`, or `conflict` when the name is taken in the project.
 */
export async function createTemplate(projectId: string, authorId: string, input: TemplateInput): Promise<Template> {
  const { name, subject, body, ...content } = await checked(projectId, { subject: null, ...input });
  if (name === undefined) throw invalid({ field: 'name', message: 'is required' });
  if (body === undefined) throw invalid({ field: 'body', message: 'is required' });
  return db
    .$transaction(async (tx) => {
      const data = { id: newId('tpl'), projectId, name, subject: subject ?? null, body, ...content };
      const template = await tx.template.create({ data });
      await keepVersion(tx, template, { authorId });
      return template;
    })
    .catch(nameTaken(name));
}

/** A template of the project, or `not_found` (spec: Templates). */
export async function getTemplate(projectId: string, id: string, query: RowsQuery = {}): Promise<Template> {
  const template = isId('tpl', id) ? await db.template.findFirst({ ...query, where: { id, projectId } }) : null;
  if (template === null) throw notFound('template');
  return template;
}

/** The project's templates, newest first. */
export async function listTemplates(projectId: string, args: PageArgs, query: RowsQuery = {}): Promise<Page<Template>> {
  return readRows(db.template, 'tpl', args, { projectId }, query);
}

/**
 * Updates the fields provided; a published template stays published. The new content becomes a new version.
 * @throws DomainError as `createTemplate`, or `not_found`; `conflict` when `version` is no longer current.
 */
export async function updateTemplate(
  projectId: string,
  authorId: string,
  id: string,
  { version, ...input }: TemplateInput & { version?: number | null | undefined },
): Promise<Template> {
  const { body: html, format, source } = await getTemplate(projectId, id);
  const data = await checked(projectId, {
    ...input,
    body: asSubmitted(input.body, input.format, { html, format, source }),
  });
  if (Object.keys(data).length === 0)
    throw new DomainError('validation_error', 'Provide a name, subject or body to update.');
  return change(projectId, id, { authorId }, (template) => {
    if (version != null && version !== template.version) throw versionConflict('template');
    return data;
  }).catch(nameTaken(data.name ?? ''));
}

/** Publishes a template, so that it can be sent (spec: Template). Publishing again has no effect. */
export async function publishTemplate(projectId: string, authorId: string, id: string): Promise<Template> {
  return change(projectId, id, { authorId }, () => ({ status: 'published' }));
}

/** The versions of a template, newest first. @throws DomainError `not_found`. */
export async function listVersions(
  projectId: string,
  id: string,
  args: PageArgs,
  query: RowsQuery = {},
): Promise<Page<Version>> {
  await getTemplate(projectId, id);
  return readRows(db.templateVersion, 'tpv', args, { projectId, templateId: id }, query);
}

/** One version of a template. @throws DomainError `not_found`. */
export async function getVersion(
  projectId: string,
  id: string,
  versionId: string,
  query: RowsQuery = {},
): Promise<Version> {
  await getTemplate(projectId, id);
  const version = isId('tpv', versionId)
    ? await db.templateVersion.findFirst({ ...query, where: { id: versionId, templateId: id, projectId } })
    : null;
  if (version === null) throw notFound('version of this template');
  return version;
}

/**
 * Restores the content of a version as a new version, keeping those in between. The status does not change. @throws
 * DomainError `not_found`.
 */
export async function restoreVersion(
  projectId: string,
  authorId: string,
  id: string,
  versionId: string,
): Promise<Template> {
  const { number, subject, body, format, source } = await getVersion(projectId, id, versionId);
  return change(projectId, id, { authorId, restoredFrom: number }, () => ({ subject, body, format, source }));
}

/** The author of a version, and the version that it restores. */
interface Origin {
  authorId: string;
  restoredFrom?: number;
}

/** The versioned fields; the name is not versioned because it is never sent. */
const CONTENT = ['subject', 'body', 'format', 'source', 'status'] as const;

/**
 * Changes a template, and adds a version if its content changed. The row is locked, so concurrent saves each get a
 * version.
 */
async function change(
  projectId: string,
  id: string,
  origin: Origin,
  changesOf: (template: Template) => Partial<Template>,
): Promise<Template> {
  await getTemplate(projectId, id);
  return db.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT id FROM templates WHERE id = ${id} FOR UPDATE`;
    const template = await tx.template.findFirst({ where: { id, projectId } });
    if (template === null) throw notFound('template');
    const changes = changesOf(template);
    const isNew = CONTENT.some((field) => changes[field] !== undefined && changes[field] !== template[field]);
    const data = { ...changes, ...(isNew ? { version: template.version + 1 } : {}) };
    const isChanged = isNew || (changes.name !== undefined && changes.name !== template.name);
    if (!isChanged) return template;
    const changed = await tx.template.update({ where: { id }, data });
    if (isNew) await keepVersion(tx, changed, origin);
    return changed;
  });
}

/** Stores the current content as a version. The unique number prevents duplicates. */
async function keepVersion(
  tx: Prisma.TransactionClient,
  { id: templateId, projectId, version: number, subject, body, format, source, status }: Template,
  origin: Origin,
): Promise<void> {
  const content = { subject, body, format, source, status };
  await tx.templateVersion.create({ data: { id: newId('tpv'), projectId, templateId, number, ...content, ...origin } });
}

/** Deletes a template with its versions. Campaigns already sent with it keep their content. */
export async function deleteTemplate(projectId: string, id: string): Promise<void> {
  await getTemplate(projectId, id);
  await db.template.delete({ where: { id } });
}

/** Validates the fields provided; omitted fields are absent. */
async function checked(projectId: string, { name, subject, body, format }: TemplateInput) {
  const content = body == null ? undefined : await readBody(projectId, 'body', body, format ?? 'html');
  const problems = [
    ...(name == null || (name.trim() !== '' && name.trim().length <= 200)
      ? []
      : [{ field: 'name', message: 'must be 1 to 200 characters' }]),
    ...(subject == null || subject.length <= 998
      ? []
      : [{ field: 'subject', message: 'must be at most 998 characters' }]),
    ...(subject == null ? [] : placeholderProblems('subject', subject, 'subject')),
    ...(format == null || body != null ? [] : [{ field: 'format', message: 'describes a body, so it requires one' }]),
    ...(content?.problems ?? []),
  ];
  assertValid(problems);
  return {
    ...(name == null ? {} : { name: name.trim() }),
    ...(subject === undefined ? {} : { subject }),
    ...(content === undefined
      ? {}
      : { body: content.body.html, format: content.body.format, source: content.body.source }),
  };
}

const nameTaken = (name: string) => conflictIfTaken(`A template named "${name}" already exists.`);
