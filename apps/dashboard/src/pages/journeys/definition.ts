import type { PropertyCondition } from '../../components/property-operators.ts';
import { isKnownType, STEP_TYPES, stepTypeOf } from './step-types.ts';
import type { StepType, Step, Entry, Definition, Exit } from './definition-types.ts';

const isText = (given: unknown): given is string => typeof given === 'string';
const isObject = (given: unknown): given is Record<string, unknown> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);
const isListOf = (is: (given: unknown) => boolean) => (given: unknown) => Array.isArray(given) && given.every(is);
const isTextOrNull = (given: unknown) => given === null || isText(given);

const isWhere = isListOf((given) => isObject(given) && isText(given.property));

/** What members of a step must be for the editor to show them. */
const SHAPES: Partial<Record<keyof Step, (given: unknown) => boolean>> = {
  next: isTextOrNull,
  yes: isTextOrNull,
  no: isTextOrNull,
  onTimeout: isTextOrNull,
  onFailure: isTextOrNull,
  branches: isListOf((given) => {
    const { percent, next } = (isObject(given) ? given : {}) as { percent?: unknown; next?: unknown };
    return typeof percent === 'number' && (next === undefined || isTextOrNull(next));
  }),
  templateId: isText,
  from: isText,
  replyTo: isTextOrNull,
  for: isObject,
  time: isText,
  weekdays: isListOf((given) => typeof given === 'number'),
  event: isText,
  where: isWhere,
  timeout: isObject,
  filter: isObject,
  segmentId: isText,
  message: (given) => isObject(given) && isText((given as { stepId?: unknown }).stepId),
  text: isText,
  memberIds: isListOf(isText),
  url: isText,
  field: isText,
  groupId: isText,
};

const isNumber = (given: unknown) => typeof given === 'number';
const hasMembers = (shapes: Record<string, (given: unknown) => boolean>) => (given: unknown) =>
  isObject(given) && Object.entries(shapes).every(([name, fits]) => fits(given[name]));

/** The same of the entry. */
const ENTRY_SHAPES: Partial<Record<keyof Entry, (given: unknown) => boolean>> = {
  event: isText,
  where: isWhere,
  groupId: isText,
  formId: isText,
  segmentId: isText,
  field: isText,
  offsetDays: isNumber,
  time: isText,
  filter: isObject,
};

/** The same of the rules. */
const RULE_SHAPES: Partial<Record<keyof Definition, (given: unknown) => boolean>> = {
  reentry: (given) => isText(given) || hasMembers({ afterDays: isNumber })(given),
  goal: hasMembers({ event: isText, where: (given) => given === undefined || isWhere(given) }),
  quietHours: hasMembers({ from: isText, to: isText }),
  frequencyCap: hasMembers({ messages: isNumber, days: isNumber }),
  timeZone: isText,
  timeZoneField: isText,
};

/** An object without the members that the editor can't show. */
const withoutInvalid = (given: Record<string, unknown>, shapes: Record<string, (given: unknown) => boolean>) =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => shapes[name]?.(value) ?? true));

/** The name of a member that the editor can't show; undefined if there is none. `id` and `type` are taken as given. */
function invalidMember(step: Record<string, unknown>): string | undefined {
  return Object.entries(SHAPES).find(([name, fits]) => step[name] !== undefined && !fits(step[name]))?.[0];
}

/**
 * Reads a saved draft, which may be any object that the API stored. Steps whose id is missing or repeated get a new one. Members that the
 * editor can't show are left out, but steps of unknown types keep all of theirs.
 */
export function readDefinition(draft: unknown): Definition {
  const { entry, steps, ...rest } = draft as Partial<Definition>;
  const given = Array.isArray(steps) ? (steps as readonly unknown[]).filter(isObject) : [];
  const taken = new Set(given.map(({ id }) => id).filter(isText));
  const seen = new Set<string>();
  const read = given.map((step): Step => {
    const id = isText(step.id) && !seen.has(step.id) ? step.id : freeId('step', taken);
    taken.add(id);
    seen.add(id);
    return readStep({ ...step, id } as Step);
  });
  return {
    ...withoutInvalid(rest, RULE_SHAPES),
    entry: isObject(entry) ? (withoutInvalid(entry, ENTRY_SHAPES) as unknown as Entry) : { type: 'manual' },
    steps: read,
  };
}

function readStep(given: Step): Step {
  const invalid = isKnownType(given.type) ? invalidMember({ ...given }) : undefined;
  if (invalid === undefined) return given;
  const { [invalid as keyof Step]: _, ...rest } = given;
  return readStep(rest as Step);
}

const isStep = (given: unknown): given is Step => isObject(given) && isText(given.id) && isKnownType(given.type);

/** What the id of a step may be, in words. */
const STEP_ID_RULE = '1 to 50 letters, digits, - or _.';
const isStepId = (id: unknown) => typeof id === 'string' && /^[\w-]{1,50}$/.test(id);

/** What is wrong with steps from elsewhere, naming the field; undefined if they can be added. */
export function stepsProblem(steps: readonly unknown[]): string | undefined {
  const ids = new Set<string>();
  for (const [index, given] of steps.entries()) {
    const at = `steps.${index}`;
    const { id } = (isObject(given) ? given : {}) as Partial<Step>;
    if (id === undefined || !isStepId(id)) return `${at}.id must be ${STEP_ID_RULE}`;
    if (ids.has(id)) return `${at}.id is the id of another step too.`;
    ids.add(id);
    if (!isStep(given)) return `${at}.type must be one of: ${Object.keys(STEP_TYPES).join(', ')}.`;
    const invalid = invalidMember({ ...given });
    if (invalid !== undefined) return `${at}.${invalid} has the wrong type.`;
  }
  return undefined;
}

export const exitsOf = (step: Step): Exit[] => stepTypeOf(step).exits(step);

/** A step that leads elsewhere. */
function withExit(step: Step, key: string, to: string | null): Step {
  const branch = key.startsWith('branches.') ? Number(key.slice('branches.'.length)) : undefined;
  if (branch === undefined) return { ...step, [key]: to };
  return {
    ...step,
    branches: (step.branches ?? []).map((each, index) => (index === branch ? { ...each, next: to } : each)),
  };
}

/** A place between steps: the start, or where an exit of a step leads. */
export type Place = { stepId: string; key: string } | 'start';

/** The step that follows at a place; null if the journey ends there. */
function followerOf({ steps }: Definition, place: Place): string | null {
  if (place === 'start') return steps[0]?.id ?? null;
  const step = steps.find(({ id }) => id === place.stepId);
  return (step && exitsOf(step).find(({ key }) => key === place.key)?.to) ?? null;
}

/** Lets a place lead to another step; nothing changes at the start without a step. */
export function connect(definition: Definition, place: Place, to: string | null): Definition {
  const { steps } = definition;
  if (place !== 'start')
    return {
      ...definition,
      steps: steps.map((step) => (step.id === place.stepId ? withExit(step, place.key, to) : step)),
    };
  const first = steps.filter(({ id }) => id === to);
  return first.length === 0 ? definition : { ...definition, steps: [...first, ...steps.filter(({ id }) => id !== to)] };
}

/** The place after a step, on its first way if it has several; undefined after an exit. */
export function placeAfter(step: Step): Place | undefined {
  const [first] = exitsOf(step);
  return first && { stepId: step.id, key: first.key };
}

/** A step and all that may follow it, in the order in which they are reached. */
export function stepsFrom({ steps }: Definition, id: string): Step[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const found = new Set<Step>();
  const ahead: (string | null)[] = [id];
  for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
    const step = byId.get(next ?? '');
    if (step === undefined || found.has(step)) continue;
    found.add(step);
    ahead.push(...exitsOf(step).map(({ to }) => to));
  }
  return [...found];
}

/**
 * The steps with these ids, in the order in which they are given, leading to each other as they would if the others were removed.
 */
export function pickSteps({ steps }: Definition, ids: readonly string[]): Step[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const picked = new Set(ids);
  const nextPicked = (to: string | null): string | null => {
    const passed = new Set<string>();
    let next = to;
    while (next !== null && !picked.has(next) && !passed.has(next)) {
      passed.add(next);
      const step = byId.get(next);
      next = (step && exitsOf(step)[0]?.to) ?? null;
    }
    return next !== null && picked.has(next) ? next : null;
  };
  return ids.flatMap((id) => {
    const step = byId.get(id);
    return step === undefined
      ? []
      : [exitsOf(step).reduce((copy, { key, to }) => withExit(copy, key, nextPicked(to)), step)];
  });
}

/** What is wrong with a new id of a step; undefined if it may have it. */
export function renameProblem({ steps }: Definition, id: string, to: string): string | undefined {
  if (!isStepId(to)) return `Use ${STEP_ID_RULE}`;
  return to !== id && steps.some((step) => step.id === to) ? 'Another step has this ID.' : undefined;
}

/** Gives a step another id, also where other steps lead to it, or ask for its message or its response. */
export function renameStep(definition: Definition, id: string, to: string): Definition {
  const response = `steps.${id}.`;
  const where = (conditions: PropertyCondition[]) =>
    conditions.map((condition) =>
      condition.property.startsWith(response)
        ? { ...condition, property: `steps.${to}.${condition.property.slice(response.length)}` }
        : condition,
    );
  const steps = definition.steps.map((step): Step => {
    const led = exitsOf(step).reduce((copy, exit) => (exit.to === id ? withExit(copy, exit.key, to) : copy), step);
    return {
      ...led,
      ...(step.id === id && { id: to }),
      // Where a step waits for an event, `where` is about that event.
      ...(step.type === 'condition' && step.where && { where: where(step.where) }),
      ...(step.message?.stepId === id && { message: { ...step.message, stepId: to } }),
    };
  });
  return { ...definition, steps };
}

export const newStep = (type: StepType): Step => ({ id: type, type, ...STEP_TYPES[type].initial });

/**
 * Adds steps, new ones or copies, the first of them at a place; what followed there follows the first of their ways that leads
 * nowhere. They lead to each other as before, and nowhere else.
 * @returns the definition and the id of the first.
 */
export function insertSteps(
  definition: Definition,
  place: Place,
  added: readonly Step[],
): { definition: Definition; id: string } {
  const ids = newIds(definition, added);
  const copies = added.map((step): Step => {
    const led = exitsOf(step).reduce((copy, { key, to }) => withExit(copy, key, ids.get(to ?? '') ?? null), step);
    const { message } = led;
    const stepId = message && ids.get(message.stepId);
    return { ...led, id: ids.get(step.id) ?? step.id, ...(message && stepId && { message: { ...message, stepId } }) };
  });
  const id = copies[0]?.id;
  if (id === undefined) return { definition, id: '' };
  return { definition: putAt(definition, place, copies, id), id };
}

/** Puts steps whose ids are free at a place. */
function putAt(definition: Definition, place: Place, added: readonly Step[], first: string): Definition {
  const follower = followerOf(definition, place);
  const open = added.flatMap((step) =>
    exitsOf(step).flatMap(({ key, to }) => (to === null ? [{ stepId: step.id, key }] : [])),
  )[0];
  const all = { ...definition, steps: [...definition.steps, ...added] };
  return connect(open === undefined || follower === null ? all : connect(all, open, follower), place, first);
}

/** Ids for steps that are added: their own, with a number if they are taken. */
function newIds({ steps }: Definition, added: readonly Step[]): Map<string, string> {
  const taken = new Set(steps.map(({ id }) => id));
  const ids = new Map<string, string>();
  for (const { id } of added) {
    const free = freeId(taken.has(id) ? id.replace(/_\d+$/, '') : id, taken);
    taken.add(free);
    ids.set(id, free);
  }
  return ids;
}

/** `base`, with a number if it is taken. */
function freeId(base: string, taken: ReadonlySet<unknown>): string {
  let free = base;
  for (let number = 2; taken.has(free); number++) free = `${base.slice(0, 50 - `_${number}`.length)}_${number}`;
  return free;
}

/** Moves a step to another place, with the ways that it has besides its first. */
export function moveStep(definition: Definition, id: string, place: Place): Definition {
  const step = definition.steps.find((each) => each.id === id);
  const isThere = place !== 'start' && place.stepId === id;
  if (step === undefined || isThere || followerOf(definition, place) === id) return definition;
  const [first] = exitsOf(step);
  const moved = first === undefined ? step : withExit(step, first.key, null);
  return putAt(removeStep(definition, id), place, [moved], id);
}

export const replaceStep = (definition: Definition, step: Step): Definition => ({
  ...definition,
  steps: definition.steps.map((each) => (each.id === step.id ? step : each)),
});

/**
 * Removes a step; what led to it leads to what follows its first exit. After an exit that was added between others, that is the first
 * step that nothing leads to any longer.
 */
export function removeStep(definition: Definition, id: string): Definition {
  const { steps } = definition;
  const removed = steps.find((step) => step.id === id);
  if (removed === undefined) return definition;
  const exits = exitsOf(removed);
  const target = exits.length === 0 ? cutOff(definition) : (exits[0]?.to ?? null);
  const to = target === id ? null : target;
  const kept = steps
    .filter((step) => step !== removed)
    .map((step) =>
      exitsOf(step).reduce((changed, { key, to: old }) => (old === id ? withExit(changed, key, to) : changed), step),
    );
  return steps[0] === removed ? connect({ ...definition, steps: kept }, 'start', to) : { ...definition, steps: kept };
}

/** The first step besides the first of all that no step leads to; null if there is none. */
function cutOff({ steps }: Definition): string | null {
  const reached = new Set(steps.flatMap(exitsOf).map(({ to }) => to));
  return steps.slice(1).find(({ id }) => !reached.has(id))?.id ?? null;
}
