import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { IsolatedCallError, type IsolatedFunction, lengthOf, runIsolated } from '@postroom/platform';
import { countTags, MAX_SUBJECT_LENGTH, type Template, type Values } from '@postroom/templating';
import { MessageError } from '@postroom/mime';
import {
  addText,
  bodyTemplatesOf,
  type ContentInput,
  fillBodyTemplates,
  type FilledContent,
  fillPlaceholders,
  VARIABLES,
} from './fill-content.ts';

const MODULE = import.meta.resolve('./fill-content.ts');
/** Typical mail takes a few milliseconds; mail at the limits of depth and length takes half a second. */
const TIME_LIMIT_MS = 3_000;
const FILL: IsolatedFunction = { module: MODULE, name: 'fillContent', timeLimitMs: TIME_LIMIT_MS };
const FILL_ALL: IsolatedFunction = { module: MODULE, name: 'fillAll', timeLimitMs: TIME_LIMIT_MS };
const ADD_TEXT: IsolatedFunction = { module: MODULE, name: 'addText', timeLimitMs: TIME_LIMIT_MS };
const BODY_TEMPLATES: IsolatedFunction = { module: MODULE, name: 'bodyTemplatesOf', timeLimitMs: TIME_LIMIT_MS };
const CONVERT: IsolatedFunction = { module: MODULE, name: 'textOfHtml', timeLimitMs: TIME_LIMIT_MS };

/**
 * Content of up to this many characters is filled in on the main thread, and HTML of up to this many characters and elements is
 * converted there. That takes 25 to 330 µs, where a call to a process takes 150 µs more.
 */
const SHORT = { text: 10_000, html: 2_000, elements: 50 };
/** Bounds the length of what placeholders are replaced with: characters of the sources times characters of the values. */
const MAX_FILLING = 500_000;
/** The same for templates whose text is generated already: their placeholders times characters of the values. */
const MAX_FILLING_OF_TEMPLATES = { alone: 500_000, oneOfMany: 20_000 };
/** HTML templates of up to this many characters keep their text templates. Gmail shows only that much of an email. */
const MAX_KEPT_TEMPLATE = 100_000;

/**
 * Fills placeholders in and generates missing text from HTML, in another process unless it is quick.
 * @param isOneOfMany whether it belongs to a batch, whose emails take long together
 */
export async function renderForProject(
  projectId: string,
  given: ContentInput,
  { isOneOfMany = false } = {},
): Promise<FilledContent> {
  const isFinished = given.html === null || (given.values === null && given.text !== null);
  try {
    const withTemplates = await fillByTemplates(projectId, given, isOneOfMany);
    if (withTemplates !== undefined) return withTemplates;
    const filled = isQuickToFill(given) && (isFinished || !isOneOfMany) ? fillPlaceholders(given) : undefined;
    if (filled !== undefined && (filled.problems.length > 0 || isQuickToConvert(filled.html))) return addText(filled);
    if (filled !== undefined) return await runIsolated<[FilledContent], FilledContent>(ADD_TEXT, projectId, filled);
    return await (isOneOfMany ? fillTogether(projectId, given) : fillAlone(projectId, given));
  } catch (error) {
    if (!(error instanceof IsolatedCallError)) throw error;
    const message = `cannot be rendered: ${error.message} Make it smaller or simpler.`;
    return { ...given, htmlText: null, problems: [{ field: given.html === null ? 'text' : 'html', message }] };
  }
}

/** The placeholders of a template that have no default and would show nothing, as mail with these values is refused. */
export async function emptyPlaceholders(
  projectId: string,
  { subject, body }: { subject: string | null; body: string },
  values: Values,
): Promise<string[]> {
  const { problems } = await renderForProject(projectId, { subject, html: body, text: null, values });
  return problems.flatMap(({ field }) => (field.startsWith(VARIABLES) ? [field.slice(VARIABLES.length)] : []));
}

/** Body templates that were filled in lately, by HTML source, which emails of one kind share. */
const bodyTemplates = new LRUCache<string, ReturnType<typeof bodyTemplatesOf>, string>({
  maxSize: 20_000_000,
  sizeCalculation: ({ text }, source) => 2 * source.length + 2 * (text?.source.length ?? 0),
  ignoreFetchAbort: true,
  fetchMethod: (source, _stale, { context: projectId }) =>
    isQuickToConvert(source)
      ? bodyTemplatesOf(source)
      : runIsolated<[string], ReturnType<typeof bodyTemplatesOf>>(BODY_TEMPLATES, projectId, source),
});

/** Fills a template in whose text is generated once for all of its emails. Undefined if the text depends on the values. */
async function fillByTemplates(
  projectId: string,
  { subject, html, text, values, mayBeBlank }: ContentInput,
  isOneOfMany: boolean,
): Promise<FilledContent | undefined> {
  if (html === null || text !== null || values === null) return undefined;
  if (html.length > MAX_KEPT_TEMPLATE || html.includes('{%')) return undefined;
  if (subject !== null && subject.length > MAX_SUBJECT_LENGTH) return undefined;
  const templates = await bodyTemplates.forceFetch(html, { context: projectId });
  if (templates.text === undefined) return undefined;
  const filling = 2 * templates.html.slots.length * JSON.stringify(values).length;
  const max = isOneOfMany ? MAX_FILLING_OF_TEMPLATES.oneOfMany : MAX_FILLING_OF_TEMPLATES.alone;
  return filling > max ? undefined : fillBodyTemplates(templates, subject, { values, mayBeBlank });
}

const fillAlone = (projectId: string, given: ContentInput) =>
  runIsolated<[ContentInput], FilledContent>(FILL, projectId, given);

/** Emails per call, and their characters. */
const GROUP = { size: 25, length: 50_000 };

/** The groups of this turn of the event loop, by project. */
const groups = new Map<
  string,
  { members: ContentInput[]; length: number; filled: Promise<(FilledContent | undefined)[]> }
>();

/**
 * Renders the emails of a batch in few calls, each of which costs as much as a short email. If a group takes too long, each is
 * rendered alone, and so is what makes its result too long.
 */
async function fillTogether(projectId: string, given: ContentInput): Promise<FilledContent> {
  const length = lengthOf([given.html, given.text, given.values]);
  let group = groups.get(projectId);
  if (group === undefined || group.members.length >= GROUP.size || group.length + length > GROUP.length) {
    const members: ContentInput[] = [];
    const filled = setImmediate().then(() => {
      if (groups.get(projectId)?.members === members) groups.delete(projectId);
      return runIsolated<[ContentInput[]], (FilledContent | undefined)[]>(FILL_ALL, projectId, members);
    });
    group = { members, length: 0, filled };
    groups.set(projectId, group);
  }
  group.length += length;
  const at = group.members.push(given) - 1;
  try {
    return (await group.filled)[at] ?? (await fillAlone(projectId, given));
  } catch (error) {
    if (!(error instanceof IsolatedCallError) || group.members.length === 1) throw error;
    return fillAlone(projectId, given);
  }
}

function isQuickToFill({ subject, html, text, values }: ContentInput): boolean {
  if (values === null) return true;
  const sources = [subject, html, text].filter((source) => source !== null);
  const length = sources.reduce((sum, source) => sum + source.length, 0);
  if (length > SHORT.text || (html?.length ?? 0) > SHORT.html) return false;
  // A loop takes as many steps as its list has items.
  if (sources.some((source) => source.includes('{%'))) return false;
  return length * JSON.stringify(values).length <= MAX_FILLING;
}

const isQuickToConvert = (html: string | null) =>
  html === null || (html.length <= SHORT.html && countTags(html, SHORT.elements + 1) <= SHORT.elements);

/** Recently generated templates, by HTML source: a campaign needs its own every few seconds. */
const textTemplates = new LRUCache<string, Template, { projectId: string; html: Template }>({
  max: 20,
  ignoreFetchAbort: true,
  fetchMethod: async (_source, _stale, { context: { projectId, html } }) => {
    try {
      return await runIsolated<[Template], Template>(CONVERT, projectId, html);
    } catch (error) {
      if (!(error instanceof IsolatedCallError)) throw error;
      throw new MessageError('html', `Failed to generate text from the HTML: ${error.message}`);
    }
  },
});

/**
 * Generates the text template of an HTML template in another process. Results are cached.
 * @throws MessageError if the HTML is too complex or takes too long.
 */
export function textTemplateOf(projectId: string, html: Template): Promise<Template> {
  return textTemplates.forceFetch(html.source, { context: { projectId, html } });
}
