import {
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
import { placeholderProblems } from './placeholders.ts';

type Template = Prisma.TemplateModel;

export interface TemplateInput {
  name?: string | null | undefined;
  subject?: string | null | undefined;
  body?: string | null | undefined;
}

/** A template's text may have this many characters; larger mail is cut off by its readers. */
const MAX_BODY_LENGTH = 500_000;

/** Creates a draft. @throws DomainError `validation_error`, or `conflict` when the name is taken in the project. */
export async function createTemplate(projectId: string, input: TemplateInput): Promise<Template> {
  const { name, subject, body } = checked({ subject: null, ...input });
  if (name === undefined) throw invalid({ field: 'name', message: 'is required' });
  if (body === undefined) throw invalid({ field: 'body', message: 'is required' });
  return db.template
    .create({ data: { id: newId('tpl'), projectId, name, subject: subject ?? null, body } })
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
  const data = checked(input);
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
function checked({ name, subject, body }: TemplateInput) {
  const problems = [
    ...(name == null || (name.trim() !== '' && name.trim().length <= 200)
      ? []
      : [{ field: 'name', message: 'must be 1 to 200 characters' }]),
    ...(subject == null || subject.length <= 998
      ? []
      : [{ field: 'subject', message: 'must be at most 998 characters' }]),
    ...(subject == null ? [] : placeholderProblems('subject', subject, 'subject')),
    ...(body == null || body.length <= MAX_BODY_LENGTH
      ? []
      : [{ field: 'body', message: `must be at most ${MAX_BODY_LENGTH} characters` }]),
    ...(body == null ? [] : placeholderProblems('body', body, 'html')),
  ];
  const [first, ...others] = problems;
  if (first !== undefined) throw invalid(first, ...others);
  return {
    ...(name == null ? {} : { name: name.trim() }),
    ...(subject === undefined ? {} : { subject }),
    ...(body == null ? {} : { body }),
  };
}

const nameTaken = (name: string) => conflictIfTaken(`A template named "${name}" already exists.`);
