import type { Definition, Step } from './definition-types.ts';

/** How a step of one version differs from the other. */
export type Mark = 'added' | 'removed' | 'changed';

/** The differences of a draft from what is published. */
export interface Differences {
  /** By id, in the order of the draft, then those that it lacks. */
  steps: ReadonlyMap<string, Mark>;
  /** Whether how contacts enter differs, including the first step. */
  entry: boolean;
  rules: boolean;
}

/** Members of steps that mean the same when they are null as when they are missing. */
const OPTIONAL = new Set(['next', 'yes', 'no', 'onTimeout', 'replyTo']);

/** The same text for what means the same: the order of members does not matter. */
const canonical = (given: unknown): string | undefined =>
  JSON.stringify(given, (_key, value: unknown) =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .filter(([name, member]) => member !== null || !OPTIONAL.has(name))
            .sort(([one], [other]) => (one < other ? -1 : 1)),
        ),
  );

/** Whether two values, such as definitions, mean the same. */
export const isEquivalent = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other);

export function differencesOf(draft: Definition, published: Definition): Differences {
  const split = ({ steps, entry, ...rules }: Definition) => ({
    byId: new Map<string, Step>(steps.map((step) => [step.id, step])),
    entry: canonical([entry, steps[0]?.id]),
    rules: canonical(rules),
  });
  const [now, before] = [split(draft), split(published)];
  const steps = new Map<string, Mark>();
  for (const [id, step] of now.byId) {
    const old = before.byId.get(id);
    if (old === undefined) steps.set(id, 'added');
    else if (canonical(old) !== canonical(step)) steps.set(id, 'changed');
  }
  for (const id of before.byId.keys()) if (!now.byId.has(id)) steps.set(id, 'removed');
  return { steps, entry: now.entry !== before.entry, rules: now.rules !== before.rules };
}
