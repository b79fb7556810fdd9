import { type FieldProblem, onThread, ThreadError, type ThreadFunction } from '@postroom/platform';
import type { Body, CheckedBody, ContentFormat } from './check-body.ts';
import { type ContentProblem, describeProblem } from './problems.ts';

export type { Body, ContentFormat };

/** MJML grows when it is compiled: a large newsletter takes a second. */
const CHECK: ThreadFunction = { module: import.meta.resolve('./check-body.ts'), name: 'checkBody', timeLimitMs: 5_000 };

/**
 * What somebody means who gives a body. Who writes back what they read gives the HTML that MJML was made into and says that
 * it is MJML: they mean the MJML.
 */
export function asSubmitted<T extends string | null | undefined>(
  given: T,
  format: ContentFormat | null | undefined,
  kept: { html: string | null; format: ContentFormat; source: string | null },
): T | string {
  const isUnchanged = given != null && given === kept.html && format === 'mjml' && kept.format === 'mjml';
  return isUnchanged ? (kept.source ?? given) : given;
}

/** What is wrong with a body, or the body as it is kept. Its problems are those of `field`, and say where they are. */
export async function readBody(
  projectId: string,
  field: string,
  given: string,
  format: ContentFormat,
): Promise<{ body: Body; problems: FieldProblem[] }> {
  const { body, flaws } = await checkBody(projectId, given, format);
  return { body, problems: flaws.map((flaw) => ({ field, message: describeProblem(flaw) })) };
}

/**
 * What is wrong with a body, by where it stands in what its author wrote; and the body as it would be kept. It is parsed and
 * compiled on a thread of its own, since what that costs is for its author to say.
 */
export async function checkBody(projectId: string, given: string, format: ContentFormat): Promise<CheckedBody> {
  try {
    return await onThread<[string, ContentFormat], CheckedBody>(CHECK, projectId, given, format);
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    const flaw: ContentProblem = { message: `can not be compiled: ${error.message} Make it smaller or simpler.` };
    return { body: { html: given, format, source: format === 'mjml' ? given : null }, flaws: [flaw] };
  }
}
