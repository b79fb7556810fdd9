import { isId, pool, coalesceReads } from '@postroom/platform';
import { type Problems, readObject, type SendEmailInput } from './email-input.ts';
import { subjectLine, type Values } from '@postroom/templating';
import { renderForProject } from './fill-content-for-project.ts';
import { type ContentInput, lengthOfContent, MAX_TEXT_LENGTH } from './fill-content.ts';
import { postalAddressOf } from '@postroom/projects';

/** The content of an email, with placeholders filled in. */
export interface RenderedContent {
  subject: string;
  html: string | null;
  text: string | null;
  /** The text generated from the HTML; null if the email has its own text. */
  htmlText: string | null;
}

/**
 * About how many characters the bodies of a batch have together once placeholders are filled in. A small request could otherwise
 * become a gigabyte of content, which holds up or ends the process.
 */
export class ContentBudget {
  #left: number;

  constructor(characters = MAX_PAGE_LENGTH) {
    this.#left = characters;
  }

  /** Whether nothing more fits. */
  get isUsedUp(): boolean {
    return this.#left <= 0;
  }

  /** @returns false, without taking anything, if it is used up. */
  take(characters: number): boolean {
    if (this.isUsedUp) return false;
    this.#left -= characters;
    return true;
  }
}

/** About the most characters of the bodies of a batch. */
export const MAX_BATCH_LENGTH = 40_000_000;
/** The same for emails that modules prepare together. */
const MAX_PAGE_LENGTH = 20_000_000;
export const BATCH_TOO_LONG =
  'is too long together with the emails before it, once placeholders are filled in; send it in another batch';

/** The problem of a subject whose placeholders leave nothing of it. */
export const EMPTY_SUBJECT = 'is empty once its placeholders are filled in';

const NO_POSTAL_ADDRESS =
  'is required, because the project has no postal address; enter one in the dashboard, under Project';

/** The content of an email for which its batch has no space left. */
const TOO_MUCH: RenderedContent = { subject: '', html: null, text: null, htmlText: null };

interface RenderOptions extends Pick<ContentInput, 'mayBeBlank'> {
  path?: string;
  /** As in `renderForProject`. */
  isOneOfMany?: boolean;
  /** Of the batch; the problem of an email beyond it is `BATCH_TOO_LONG`. */
  budget?: ContentBudget;
}

/**
 * Renders the subject and bodies of an email, from its own content or a published template. Placeholders are filled in only
 * if the email has a template or `variables`; otherwise braces are literal. Adds problems to `problems`, under `path`.
 */
export async function renderContent(
  projectId: string,
  input: SendEmailInput,
  problems: Problems,
  { path = '', mayBeBlank, isOneOfMany = false, budget }: RenderOptions = {},
): Promise<RenderedContent> {
  const template = await readTemplate(projectId, input, problems, path);
  const given = input.subject ?? template?.subject ?? null;
  const subject = given === null ? null : subjectLine(given);
  const html = template?.body ?? input.html ?? null;
  const text = input.text === '' && html !== null && html !== '' ? null : (input.text ?? null);
  // Mail submitted over SMTP may have no subject; an API request must.
  const mayOmitSubject = input.recipients !== undefined && template === null;
  if ((subject === null || subject.trim() === '') && !mayOmitSubject) problems.add(`${path}subject`, 'is required');
  if ((html === null || html === '') && (text === null || text === '') && input.templateId == null) {
    problems.add(`${path}html`, 'is required, unless text or templateId is given');
  }
  const hasPlaceholders = template !== null || input.variables != null;
  const showsAddress = hasPlaceholders && [subject, html, text].some((source) => source?.includes('postal_address'));
  const values: Values | null = hasPlaceholders
    ? {
        ...(showsAddress && { postal_address: await postalAddressOf(projectId) }),
        ...readObject(input.variables, `${path}variables`, problems),
      }
    : null;
  const isTooLong = [html, text].some((source) => (source?.length ?? 0) > MAX_TEXT_LENGTH); // reported by `readEmail`
  if (isTooLong) return { subject: subject ?? '', html, text, htmlText: null };
  const rendered = await renderForProject(
    projectId,
    { subject, html: html === '' ? null : html, text, values, mayBeBlank },
    { isOneOfMany },
  );
  if (budget?.take(lengthOfContent(rendered)) === false) {
    problems.add(`${path}html`, BATCH_TOO_LONG);
    return TOO_MUCH;
  }
  for (const { field, message } of rendered.problems) {
    const isAddress = field === 'variables.postal_address';
    problems.add(
      field === 'html' && template !== null ? `${path}templateId` : `${path}${field}`,
      isAddress ? NO_POSTAL_ADDRESS : message,
    );
  }
  const isEmptied = rendered.problems.length === 0 && rendered.subject?.trim() === '' && subject?.trim() !== '';
  if (isEmptied) problems.add(`${path}subject`, EMPTY_SUBJECT);
  return {
    subject: rendered.subject ?? '',
    html: rendered.html ?? html,
    text: rendered.text,
    htmlText: rendered.htmlText,
  };
}

interface TemplateContent {
  subject: string;
  body: string;
  isPublished: boolean;
}

/** Keyed by `<project id> <template id>`. */
const templateOf = coalesceReads<TemplateContent>(async (keys) => {
  const pairs = keys.map((pair) => pair.split(' '));
  const { rows } = await pool.query<TemplateContent & { key: string }>({
    name: 'emails-templates',
    text: `SELECT t.project_id || ' ' || t.id AS key, t.subject, t.body, t.status = 'published' AS "isPublished"
      FROM unnest($1::text[], $2::text[]) AS keys(project_id, id) JOIN templates t ON t.id = keys.id AND t.project_id = keys.project_id`,
    values: [pairs.map(([projectId]) => projectId), pairs.map(([, id]) => id)],
  });
  return new Map(rows.map((row) => [row.key, row]));
});

async function readTemplate(projectId: string, input: SendEmailInput, problems: Problems, path: string) {
  const { templateId: id } = input;
  if (id == null) return null;
  if (input.html != null) problems.add(`${path}html`, 'must not be combined with templateId');
  const template = isId('tpl', id) ? await templateOf(`${projectId} ${id}`) : undefined;
  if (template === undefined) problems.add(`${path}templateId`, 'is not a template of this project');
  else if (!template.isPublished) problems.add(`${path}templateId`, 'is not published');
  return template ?? null;
}
