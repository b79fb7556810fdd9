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
  readPage,
  type RowsQuery,
} from '@postroom/platform';
import { type ContentFormat, readBody } from './formats.ts';
import { placeholderProblems } from './placeholders.ts';

type Template = Prisma.TemplateModel;

export interface TemplateInput {
  name?: string | null | undefined;
  subject?: string | null | undefined;
  body?: string | null | undefined;
  /** What the body is written in; HTML unless given. */
  format?: ContentFormat | null | undefined;
}

/** Creates a draft. @throws DomainError `validation_error`, or `conflict` when the name is taken in the project. */
export async function createTemplate(projectId: string, input: TemplateInput): Promise<Template> {
  const { name, subject, body, ...content } = await checked({ subject: null, ...input });
  if (name === undefined) throw invalid({ field: 'name', message: 'is required' });
  if (body === undefined) throw invalid({ field: 'body', message: 'is required' });
  return db.template
    .create({ data: { id: newId('tpl'), projectId, name, subject: subject ?? null, body, ...content } })
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
  return readPage('tpl', args, ({ limit, before }) =>
    db.template.findMany({
      ...query,
      where: { projectId, ...(before === undefined ? {} : { id: { lt: before } }) },
      orderBy: { id: 'desc' },
      take: limit,
    }),
  );
}

/** Changes what is given; a published template stays published. @throws DomainError as `createTemplate`, or `not_found`. */
export async function updateTemplate(projectId: string, id: string, input: TemplateInput): Promise<Template> {
  await getTemplate(projectId, id);
  const data = await checked(input);
  if (Object.keys(data).length === 0)
    throw new DomainError('validation_error', 'An update needs a name, subject or body.');
  return db.template.update({ where: { id }, data }).catch(nameTaken(data.name ?? ''));
}

/** Makes a template ready to be sent: `published` (spec: Template). Publishing it again changes nothing. */
export async function publishTemplate(projectId: string, id: string): Promise<Template> {
  await getTemplate(projectId, id);
  return db.template.update({ where: { id }, data: { status: 'published' } });
}

/** Deletes a template. Campaigns that were sent with it keep what they sent. */
export async function deleteTemplate(projectId: string, id: string): Promise<void> {
  await getTemplate(projectId, id);
  await db.template.delete({ where: { id } });
}

/** What is given, checked; the members that are not given are absent. */
async function checked({ name, subject, body, format }: TemplateInput) {
  const content = body == null ? undefined : await readBody('body', body, format ?? 'html');
  const problems = [
    ...(name == null || (name.trim() !== '' && name.trim().length <= 200)
      ? []
      : [{ field: 'name', message: 'must be 1 to 200 characters' }]),
    ...(subject == null || subject.length <= 998
      ? []
      : [{ field: 'subject', message: 'must be at most 998 characters' }]),
    ...(subject == null ? [] : placeholderProblems('subject', subject, 'subject')),
    ...(format == null || body != null ? [] : [{ field: 'format', message: 'says what a body is, so it needs one' }]),
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
