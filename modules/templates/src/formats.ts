import { type FieldProblem, IsolatedCallError, type IsolatedFunction, runIsolated } from '@postroom/platform';
import type { Body, CheckedBody, ContentFormat } from './check-body.ts';
import { type ContentProblem, describeProblem } from './problems.ts';

export type { Body, ContentFormat };

/** MJML takes long to compile: about a second for a large newsletter. */
const CHECK: IsolatedFunction = {
  module: import.meta.resolve('./check-body.ts'),
  name: 'checkBody',
  timeLimitMs: 5_000,
};

/**
 * Interprets a submitted body. Clients that write back what they read may send the compiled HTML with format MJML; they
 * mean the MJML source.
 */
export function resolveSubmittedBody<T extends string | null | undefined>(
  given: T,
  format: ContentFormat | null | undefined,
  kept: { html: string | null; format: ContentFormat; source: string | null },
): T | string {
  const isUnchanged = given != null && given === kept.html && format === 'mjml' && kept.format === 'mjml';
  return isUnchanged ? (kept.source ?? given) : given;
}

/**
 * Validates a body and returns it as stored.
 * @throws DomainError `validation_error` with problems of `field` and their positions.
 */
export async function readBody(
  projectId: string,
  field: string,
  given: string,
  format: ContentFormat,
): Promise<{ body: Body; problems: FieldProblem[] }> {
  const { body, problems } = await checkBody(projectId, given, format);
  return { body, problems: problems.map((problem) => ({ field, message: describeProblem(problem) })) };
}

/**
 * Validates a body; problems have positions in the source. Parses and compiles in another process, because the author
 * controls the cost.
 */
export async function checkBody(projectId: string, given: string, format: ContentFormat): Promise<CheckedBody> {
  try {
    return await runIsolated<[string, ContentFormat], CheckedBody>(CHECK, projectId, given, format);
  } catch (error) {
    if (!(error instanceof IsolatedCallError)) throw error;
    const problem: ContentProblem = { message: `cannot be compiled: ${error.message} Make it smaller or simpler.` };
    return { body: { html: given, format, source: format === 'mjml' ? given : null }, problems: [problem] };
  }
}
