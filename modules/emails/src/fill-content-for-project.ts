import { LRUCache } from 'lru-cache';
import { onThread, ThreadError, type ThreadFunction } from '@postroom/platform';
import type { Template } from '@postroom/templating';
import { MessageError } from '@postroom/mime';
import { type ContentInput, fillContent, type FilledContent } from './fill-content.ts';

const MODULE = import.meta.resolve('./fill-content.ts');
/** Typical mail takes a few milliseconds; mail at the limits of depth and length takes half a second. */
const TIME_LIMIT_MS = 3_000;
const FILL: ThreadFunction = { module: MODULE, name: 'fillContent', timeLimitMs: TIME_LIMIT_MS };
const CONVERT: ThreadFunction = { module: MODULE, name: 'textOfHtml', timeLimitMs: TIME_LIMIT_MS };

/** Text without HTML of up to this many characters is rendered on the main thread; a thread would take longer. */
const SHORT = 10_000;

/** Fills placeholders in and generates missing text from HTML, on a worker thread unless that is quick. */
export async function renderForProject(projectId: string, given: ContentInput): Promise<FilledContent> {
  const length = (given.subject?.length ?? 0) + (given.html?.length ?? 0) + (given.text?.length ?? 0);
  const isFinished = given.values === null && (given.html === null || given.text !== null);
  if ((isFinished || given.html === null) && length <= SHORT) return fillContent(given);
  if (isFinished && given.html === null) return { ...given, htmlText: null, problems: [] };
  try {
    return await onThread<[ContentInput], FilledContent>(FILL, projectId, given);
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    const message = `cannot be rendered: ${error.message} Make it smaller or simpler.`;
    return { ...given, htmlText: null, problems: [{ field: given.html === null ? 'text' : 'html', message }] };
  }
}

/** Recently generated templates, by HTML source: a campaign needs its own every few seconds. */
const textTemplates = new LRUCache<string, Template, { projectId: string; html: Template }>({
  max: 20,
  ignoreFetchAbort: true,
  fetchMethod: async (_source, _stale, { context: { projectId, html } }) => {
    try {
      return await onThread<[Template], Template>(CONVERT, projectId, html);
    } catch (error) {
      if (!(error instanceof ThreadError)) throw error;
      throw new MessageError('html', `Failed to generate text from the HTML: ${error.message}`);
    }
  },
});

/**
 * Generates the text template of an HTML template on a worker thread. Results are cached.
 * @throws MessageError if the HTML is too complex or takes too long.
 */
export function textTemplateOf(projectId: string, html: Template): Promise<Template> {
  return textTemplates.forceFetch(html.source, { context: { projectId, html } });
}
