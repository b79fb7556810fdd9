import { isId, pool, coalesceReads } from '@postroom/platform';
import { type Problems, readObject, type SendEmailInput } from './email-input.ts';
import type { Values } from '@postroom/templates/render';
import { writeForProject } from './fill-content-for-project.ts';
import { MAX_TEXT_LENGTH } from './fill-content.ts';

/** What an email says, with placeholders filled in. */
export interface RenderedContent {
  subject: string;
  html: string | null;
  text: string | null;
  /** The text made from the HTML; null when the email has a text of its own. */
  htmlText: string | null;
}

/**
 * The subject and bodies of an email: its own, or those of a published template. Placeholders are filled in when the email
 * has a template or `variables`; in other mail two braces are two braces.
 */
export async function renderContent(
  projectId: string,
  input: SendEmailInput,
  problems: Problems,
  path = '',
): Promise<RenderedContent> {
  const template = await readTemplate(projectId, input, problems, path);
  const subject = input.subject ?? template?.subject ?? null;
  const html = template?.body ?? input.html ?? null;
  const text = input.text ?? null;
  // A mail that was handed over by SMTP may have none; in a request it was forgotten.
  const mayHaveNone = input.recipients !== undefined && template === null;
  if ((subject === null || subject.trim() === '') && !mayHaveNone) problems.add(`${path}subject`, 'is required');
  if ((html === null || html === '') && (text === null || text === '') && input.templateId == null) {
    problems.add(`${path}html`, 'is required, unless text or template_id is given');
  }
  const hasPlaceholders = template !== null || input.variables != null;
  const values = hasPlaceholders ? (readObject(input.variables, `${path}variables`, problems) as Values) : null;
  const isTooLong = [html, text].some((source) => (source?.length ?? 0) > MAX_TEXT_LENGTH); // which `readEmail` says
  if (isTooLong) return { subject: subject ?? '', html, text, htmlText: null };
  const written = await writeForProject(projectId, { subject, html: html === '' ? null : html, text, values });
  for (const { field, message } of written.problems)
    problems.add(field === 'html' && template !== null ? `${path}templateId` : `${path}${field}`, message);
  return { subject: written.subject ?? '', html: written.html ?? html, text: written.text, htmlText: written.htmlText };
}

interface TemplateWords {
  subject: string;
  body: string;
  isPublished: boolean;
}

/** By the project's id and the template's, with a space between. */
const templateOf = coalesceReads<TemplateWords>(async (asked) => {
  const pairs = asked.map((pair) => pair.split(' '));
  const { rows } = await pool.query<TemplateWords & { key: string }>({
    name: 'emails-templates',
    text: `SELECT t.project_id || ' ' || t.id AS key, t.subject, t.body, t.status = 'published' AS "isPublished"
      FROM unnest($1::text[], $2::text[]) AS asked(project_id, id) JOIN templates t ON t.id = asked.id AND t.project_id = asked.project_id`,
    values: [pairs.map(([projectId]) => projectId), pairs.map(([, id]) => id)],
  });
  return new Map(rows.map((row) => [row.key, row]));
});

async function readTemplate(projectId: string, input: SendEmailInput, problems: Problems, path: string) {
  const { templateId: id } = input;
  if (id == null) return null;
  if (input.html != null) problems.add(`${path}html`, 'must not be given together with template_id');
  const template = isId('tpl', id) ? await templateOf(`${projectId} ${id}`) : undefined;
  if (template === undefined) problems.add(`${path}templateId`, 'is not a template of this project');
  else if (!template.isPublished) problems.add(`${path}templateId`, 'is not published');
  return template ?? null;
}
