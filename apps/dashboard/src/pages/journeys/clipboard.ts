import { stepsProblem } from './definition.ts';
import type { Step } from './definition-types.ts';

/** Where copied steps are for the menus, for this tab: the browser lets only a paste read its clipboard. */
const KEY = 'journey-steps';

/** Steps as JSON, as in a definition, so that they may be pasted into other journeys, tabs and files. */
export const stepsToText = (steps: readonly Step[]): string => JSON.stringify({ steps }, null, 2);

/** The steps in a text that was copied, or in a downloaded journey; a sentence that says why there are none in any other text. */
export function stepsFromText(text: string): readonly Step[] | string {
  let steps: unknown;
  try {
    const given: unknown = JSON.parse(text);
    steps = typeof given === 'object' && given !== null && 'steps' in given ? given.steps : undefined;
  } catch {
    return 'The clipboard has no steps of a journey.';
  }
  if (!Array.isArray(steps) || steps.length === 0) return 'The clipboard has no steps of a journey.';
  const problem = stepsProblem(steps);
  return problem === undefined ? (steps as Step[]) : `These steps can’t be added: ${problem}`;
}

/** Keeps steps for menus, and in the clipboard where the browser allows it. */
export function rememberSteps(steps: readonly Step[]): void {
  const text = stepsToText(steps);
  sessionStorage.setItem(KEY, text);
  // Without HTTPS there is no clipboard to write to, except in a copy event.
  void (navigator.clipboard as Clipboard | undefined)?.writeText(text).catch(() => {});
}

export function rememberedSteps(): readonly Step[] {
  const steps = stepsFromText(sessionStorage.getItem(KEY) ?? '');
  return typeof steps === 'string' ? [] : steps;
}
