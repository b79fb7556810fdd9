import { onThread, ThreadError, type ThreadFunction } from '@postroom/platform';
import type { Template } from '@postroom/templates/render';
import { MessageError } from '@postroom/mime';
import { type GivenWords, writeGiven, type WrittenWords } from './fill-content.ts';

const MODULE = import.meta.resolve('./fill-content.ts');
/** Mail as people write it takes a few milliseconds; at the limits of depth and length it takes half a second. */
const TIME_LIMIT_MS = 3_000;
const WRITE: ThreadFunction = { module: MODULE, name: 'writeGiven', timeLimitMs: TIME_LIMIT_MS };
const CONVERT: ThreadFunction = { module: MODULE, name: 'textOfHtml', timeLimitMs: TIME_LIMIT_MS };

/** Up to so many characters a text without HTML is written here: to hand it to a thread would take longer. */
const SHORT = 10_000;

/** Fills placeholders in, and makes a text from HTML that comes without one, where that delays nobody. */
export async function writeForProject(projectId: string, given: GivenWords): Promise<WrittenWords> {
  const length = (given.subject?.length ?? 0) + (given.html?.length ?? 0) + (given.text?.length ?? 0);
  const isFinished = given.values === null && (given.html === null || given.text !== null);
  if ((isFinished || given.html === null) && length <= SHORT) return writeGiven(given);
  if (isFinished && given.html === null) return { ...given, htmlText: null, problems: [] };
  try {
    return await onThread<[GivenWords], WrittenWords>(WRITE, projectId, given);
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    const message = `can not be made into a message: ${error.message} Make it smaller or simpler.`;
    return { ...given, htmlText: null, problems: [{ field: given.html === null ? 'text' : 'html', message }] };
  }
}

/** The last texts that were made: a campaign asks for its own every few seconds. */
const made = new Map<string, Promise<Template>>();
const MAX_MADE = 20;

/**
 * The text template of an HTML one, for a project; made where that delays nobody.
 * @throws MessageError when it can't be made, now or ever.
 */
export async function textTemplateOf(projectId: string, html: Template): Promise<Template> {
  const known = made.get(html.source);
  if (known !== undefined) return known;
  const making = onThread<[Template], Template>(CONVERT, projectId, html).catch((error: unknown) => {
    made.delete(html.source);
    if (error instanceof ThreadError)
      throw new MessageError('html', `No text can be made from the HTML: ${error.message}`);
    throw error;
  });
  made.set(html.source, making);
  for (const oldest of made.keys()) if (made.size > MAX_MADE) made.delete(oldest);
  return making;
}
