import { type Definition, type DefinitionProblem, durationMs, exitsOf, type Step } from './definition.ts';

const HOUR_MS = 3_600_000;

/** What is wrong with how the steps of a definition are connected. Each problem names a step. */
export function graphProblems({ steps }: Definition): DefinitionProblem[] {
  const problems: DefinitionProblem[] = [];
  const indexOf = new Map<string, number>();
  for (const [index, { id }] of steps.entries()) {
    if (indexOf.has(id))
      problems.push({
        field: `definition.steps.${index}.id`,
        message: `"${id}" is the id of an earlier step`,
        stepId: id,
      });
    else indexOf.set(id, index);
  }
  for (const [index, step] of steps.entries()) {
    const at = `definition.steps.${index}`;
    for (const { label, to } of exitsOf(step)) {
      if (to !== null && !indexOf.has(to))
        problems.push({
          field: `${at}.${label}`,
          message: `leads from "${step.id}" to "${to}", which is not a step`,
          stepId: step.id,
        });
    }
    if (step.type === 'condition' && step.message !== undefined) {
      const { stepId } = step.message;
      if (steps[indexOf.get(stepId) ?? -1]?.type !== 'send')
        problems.push({
          field: `${at}.message.stepId`,
          message: `"${stepId}" is not a step that sends a message`,
          stepId: step.id,
        });
    }
    if (step.type === 'wait_for_event' && step.timeout === undefined && step.onTimeout != null)
      problems.push({
        field: `${at}.onTimeout`,
        message: `of "${step.id}" is never reached without a timeout`,
        stepId: step.id,
      });
  }
  if (problems.length > 0) return problems;
  return [...unreachable(steps, indexOf), ...loops(steps, indexOf)];
}

function unreachable(steps: readonly Step[], indexOf: ReadonlyMap<string, number>): DefinitionProblem[] {
  const reached = new Set<number>([0]);
  for (const index of reached) {
    for (const { to } of exitsOf(steps[index] as Step)) if (to !== null) reached.add(indexOf.get(to) as number);
  }
  return [...steps.entries()]
    .filter(([index]) => !reached.has(index))
    .map(([index, { id }]) => ({
      field: `definition.steps.${index}`,
      message: `the step "${id}" is unreachable: no step leads to it`,
      stepId: id,
    }));
}

/** Whether a loop through the step takes a while. An event may already have happened, so waiting for one does not count. */
const takesTime = (step: Step): boolean =>
  step.type === 'wait_until' || (step.type === 'wait' && durationMs(step.for) >= HOUR_MS);

/** Finds loops among the steps that take no time, by depth-first search without recursion. */
function loops(steps: readonly Step[], indexOf: ReadonlyMap<string, number>): DefinitionProblem[] {
  const nextOf = (index: number): number[] => {
    const step = steps[index] as Step;
    return takesTime(step) ? [] : exitsOf(step).flatMap(({ to }) => (to === null ? [] : [indexOf.get(to) as number]));
  };
  const state = new Map<number, 'open' | 'done'>();
  for (const start of steps.keys()) {
    if (state.has(start)) continue;
    const path = [{ index: start, left: nextOf(start) }];
    state.set(start, 'open');
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.left.pop();
      if (next === undefined) {
        state.set(top.index, 'done');
        path.pop();
      } else if (state.get(next) === 'open') {
        const ids = path.slice(path.findIndex(({ index }) => index === next)).map(({ index }) => steps[index]?.id);
        const first = ids[0] ?? '';
        return [
          {
            field: `definition.steps.${next}`,
            message: `the steps ${[...ids, first].map((id) => `"${id}"`).join(' → ')} are a loop without a wait of at least an hour`,
            stepId: first,
          },
        ];
      } else if (!state.has(next)) {
        state.set(next, 'open');
        path.push({ index: next, left: nextOf(next) });
      }
    }
  }
  return [];
}
