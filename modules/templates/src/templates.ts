import {
  assertValid,
  checkVersion,
  conflictIfTaken,
  databaseNow,
  db,
  DomainError,
  emptyUpdate,
  invalid,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  type Prisma,
  readLimited,
  readRows,
  type RowsQuery,
  versionConflict,
  nameContains,
  displayNameProblems,
  checkLimit,
  normalizeText,
} from '@postroom/platform';
import { MAX_SUBJECT_LENGTH, subjectLine } from '@postroom/templating';
import { type ContentFormat, readBody, resolveSubmittedBody } from './formats.ts';
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

const MAX_TEMPLATES = 2_000;

/**
 * Creates a draft with its first version. `authorId` is `usr_…` or `key_…`.
 * @throws DomainError `validation_error`, or `conflict` when the name is taken or the project has too many templates.
 */
export async function createTemplate(projectId: string, authorId: string, input: TemplateInput): Promise<Template> {
  const { name, subject, body, ...content } = await checkInput(projectId, { subject: null, ...input });
  if (name === undefined) throw invalid({ field: 'name', message: 'is required' });
  if (body === undefined) throw invalid({ field: 'body', message: 'is required' });
  return db
    .$transaction(async (tx) => {
      const data = { id: newId('tpl'), projectId, name, subject: subject ?? null, body, ...content };
      const template = await tx.template.create({ data });
      await insertVersion(tx, { projectId, templateId: template.id, number: 1, ...contentOf(template) }, { authorId });
      const limit = { of: projectId, rows: 'templates', max: MAX_TEMPLATES };
      await checkLimit(tx, limit, () => tx.template.count({ where: { projectId } }));
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

/** The project's templates that pass the filter, newest first; `search` is part of the name, ignoring case. */
export async function listTemplates(
  projectId: string,
  { search, status }: { search?: string | null | undefined; status?: Template['status'] | null | undefined },
  args: PageArgs,
  query: RowsQuery,
): Promise<Page<Template>> {
  const where = { projectId, ...(status == null ? {} : { status }), ...nameContains(search) };
  return readRows(db.template, 'tpl', args, where, query);
}

/**
 * Updates the fields provided. The new content becomes a new version: of a published template a draft, which is not sent until it
 * is published. A new name applies at once.
 * @throws DomainError as `createTemplate`, or `not_found`; `conflict` when `version` is no longer the newest, or the template was
 * modified since `updatedAt`, its name included.
 */
export async function updateTemplate(
  projectId: string,
  authorId: string,
  id: string,
  {
    version,
    updatedAt,
    ...input
  }: TemplateInput & { version?: number | null | undefined; updatedAt?: Date | null | undefined },
): Promise<Template> {
  const { body: html, format, source } = await newestContent(await getTemplate(projectId, id));
  const { name, ...content } = await checkInput(projectId, {
    ...input,
    body: resolveSubmittedBody(input.body, input.format, { html, format, source }),
  });
  if (name === undefined && Object.keys(content).length === 0) throw emptyUpdate();
  return changeTemplate(projectId, id, { authorId }, (newest, template) => {
    checkVersion('template', version, newest.number);
    checkUnmodified(template, updatedAt);
    return { name, content };
  }).catch(nameTaken(name ?? ''));
}

/**
 * Publishes the newest version of a template, which is sent from then on (spec: Template). Publishing again has no effect.
 * @throws DomainError `not_found`; `conflict` when the template was modified since `updatedAt`.
 */
export async function publishTemplate(
  projectId: string,
  authorId: string,
  id: string,
  updatedAt?: Date | null,
): Promise<Template> {
  return changeTemplate(projectId, id, { authorId }, (_newest, template) => {
    checkUnmodified(template, updatedAt);
    return { content: { status: 'published' } };
  });
}

/**
 * Discards the draft of a published template: the published content becomes its newest version again. No effect without a draft.
 * @throws DomainError `not_found`; `conflict` when the template was never published, or modified since `updatedAt`.
 */
export async function discardDraft(
  projectId: string,
  authorId: string,
  id: string,
  updatedAt?: Date | null,
): Promise<Template> {
  const { publishedVersion } = await getTemplate(projectId, id);
  if (publishedVersion === null) throw new DomainError('conflict', 'This template has never been published.');
  return changeTemplate(projectId, id, { authorId, restoredFrom: publishedVersion }, (_newest, template) => {
    checkUnmodified(template, updatedAt);
    const { subject, body, format, source } = template;
    return { content: { subject, body, format, source, status: 'published' } };
  });
}

/** The unpublished draft of a published template; null if its newest version is the published one. */
export async function draftOf({
  id,
  version,
  publishedVersion,
}: Pick<Template, 'id' | 'version' | 'publishedVersion'>): Promise<Version | null> {
  if (publishedVersion === null || publishedVersion === version) return null;
  const where = { templateId_number: { templateId: id, number: version } };
  const [draft] = await readLimited(async () => [await db.templateVersion.findUnique({ where })]);
  return draft ?? null;
}

/** The content to edit: the draft if there is one. */
export async function newestContent(
  template: Template,
): Promise<Pick<Version, 'subject' | 'body' | 'format' | 'source'>> {
  return (await draftOf(template)) ?? template;
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
 * Restores the content of a version as a new version, keeping those in between: of a published template as a draft.
 * @throws DomainError `not_found`.
 */
export async function restoreVersion(
  projectId: string,
  authorId: string,
  id: string,
  versionId: string,
): Promise<Template> {
  const { number, subject, body, format, source } = await getVersion(projectId, id, versionId);
  return changeTemplate(projectId, id, { authorId, restoredFrom: number }, () => ({
    content: { subject, body, format, source },
  }));
}

/** The author of a version, and the version that it restores. */
interface Origin {
  authorId: string;
  restoredFrom?: number;
}

/** @throws DomainError `conflict` if the template was modified since, its name included. */
function checkUnmodified(template: Template, updatedAt: Date | null | undefined): void {
  if (updatedAt != null && updatedAt.getTime() !== template.updatedAt.getTime())
    throw versionConflict('template', 'updatedAt');
}

/** The versioned fields; the name is not versioned because it is never sent. */
const CONTENT = ['subject', 'body', 'format', 'source', 'status'] as const;
type Content = Pick<Version, (typeof CONTENT)[number]>;

interface Changes {
  name?: string | undefined;
  content: Partial<Content>;
}

/**
 * Changes a template, and adds a version if its newest content changed. A new version of a published template is a draft unless
 * it is published with this change; the row keeps the content that is sent. The row is locked, so concurrent saves each get a
 * version.
 */
async function changeTemplate(
  projectId: string,
  id: string,
  origin: Origin,
  changesOf: (newest: Version, template: Template) => Changes,
): Promise<Template> {
  await getTemplate(projectId, id);
  return db.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT id FROM templates WHERE id = ${id} FOR UPDATE`;
    const template = await tx.template.findFirst({ where: { id, projectId } });
    if (template === null) throw notFound('template');
    const newest = await tx.templateVersion.findUniqueOrThrow({
      where: { templateId_number: { templateId: id, number: template.version } },
    });
    const { name = template.name, content } = changesOf(newest, template);
    const next = { ...contentOf(newest), status: 'draft' as const, ...content };
    const isNew = CONTENT.some((field) => content[field] !== undefined && content[field] !== newest[field]);
    if (!isNew && name === template.name) return template;
    const number = isNew ? template.version + 1 : template.version;
    if (isNew) await insertVersion(tx, { projectId, templateId: id, number, ...next }, origin);
    const isPublished = next.status === 'published';
    return tx.template.update({
      where: { id },
      data: {
        name,
        version: number,
        // Strictly increasing, whatever the clocks of two gateways say.
        updatedAt: new Date(Math.max(databaseNow(), template.updatedAt.getTime() + 1)),
        ...(isNew && (isPublished || template.publishedVersion === null) ? next : {}),
        ...(isNew && isPublished ? { publishedVersion: number } : {}),
      },
    });
  });
}

const contentOf = ({ subject, body, format, source, status }: Content): Content => ({
  subject,
  body,
  format,
  source,
  status,
});

/** Stores content as a version. The unique number prevents duplicates. */
async function insertVersion(
  tx: Prisma.TransactionClient,
  version: Content & Pick<Version, 'projectId' | 'templateId' | 'number'>,
  origin: Origin,
): Promise<void> {
  await tx.templateVersion.create({ data: { id: newId('tpv'), ...version, ...origin } });
}

/** Deletes a template with its versions. Campaigns already sent with it keep their content. */
export async function deleteTemplate(projectId: string, id: string): Promise<void> {
  await getTemplate(projectId, id);
  await db.template.delete({ where: { id } });
}

/** Validates the fields provided; omitted fields are absent. */
async function checkInput(projectId: string, { name, subject, body, format }: TemplateInput) {
  const content = body == null ? undefined : await readBody(projectId, 'body', body, format ?? 'html');
  const problems = [
    ...displayNameProblems({ name }),
    ...(subject == null || subject.length <= MAX_SUBJECT_LENGTH
      ? []
      : [{ field: 'subject', message: `must be at most ${MAX_SUBJECT_LENGTH} characters` }]),
    ...(subject == null ? [] : placeholderProblems('subject', subject, 'subject')),
    ...(format == null || body != null ? [] : [{ field: 'format', message: 'requires a body' }]),
    ...(content?.problems ?? []),
  ];
  assertValid(problems);
  return {
    ...(name == null ? {} : { name: normalizeText(name) }),
    ...(subject === undefined ? {} : { subject: subject === null ? null : subjectLine(subject) }),
    ...(content === undefined
      ? {}
      : { body: content.body.html, format: content.body.format, source: content.body.source }),
  };
}

const nameTaken = (name: string) => conflictIfTaken('name', `A template named "${name}" already exists.`);
