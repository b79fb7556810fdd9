import type { PropertyCondition } from '../../components/property-operators.ts';

/** The definition of a journey as it is edited: docs/reference/journeys.md. Drafts may be incomplete. */

export interface Duration {
  days?: number | undefined;
  hours?: number | undefined;
  minutes?: number | undefined;
}

export type StepType = keyof typeof STEP_TYPES;
type MessageOutcome = keyof typeof MESSAGE_OUTCOMES;

/** A step of any type, with the members of all types. */
export interface Step {
  id: string;
  type: StepType;
  /** The step that follows; null or omitted ends the run. */
  next?: string | null | undefined;
  yes?: string | null | undefined;
  no?: string | null | undefined;
  onTimeout?: string | null | undefined;
  onFailure?: string | null | undefined;
  branches?: { percent: number; next?: string | null | undefined }[];
  templateId?: string | undefined;
  from?: string | undefined;
  replyTo?: string | undefined;
  transactional?: boolean | undefined;
  for?: Duration | undefined;
  time?: string | undefined;
  weekdays?: number[] | undefined;
  event?: string | undefined;
  where?: PropertyCondition[] | undefined;
  timeout?: Duration | undefined;
  filter?: Record<string, unknown> | undefined;
  segmentId?: string | undefined;
  message?: { stepId: string; outcome: MessageOutcome } | undefined;
  text?: string | undefined;
  memberIds?: string[] | undefined;
  url?: string | undefined;
  field?: string | undefined;
  value?: string | number | boolean | null | undefined;
  groupId?: string | undefined;
}

export interface Entry {
  type: 'manual' | 'event' | 'group_joined' | 'segment_entered' | 'segment_left' | 'date';
  event?: string | undefined;
  where?: PropertyCondition[] | undefined;
  groupId?: string | undefined;
  segmentId?: string | undefined;
  /** A custom field with a date, … */
  field?: string | undefined;
  /** … days after it, or before it if negative, … */
  offsetDays?: number | undefined;
  /** … each year or once, … */
  yearly?: boolean | undefined;
  /** … at this time of day. */
  time?: string | undefined;
  filter?: Record<string, unknown> | undefined;
}

export interface Definition {
  entry: Entry;
  reentry?: 'once' | 'always' | { afterDays: number } | undefined;
  goal?: { event: string; where?: PropertyCondition[] | undefined } | undefined;
  quietHours?: { from: string; to: string } | undefined;
  frequencyCap?: { messages: number; days: number } | undefined;
  timeZone?: string | undefined;
  timeZoneField?: string | undefined;
  /** Contacts enter at the first step. */
  steps: Step[];
}

/** Names of the step types, in the order in which they are offered. */
export const STEP_TYPES = {
  send: 'Send an email',
  wait: 'Wait',
  wait_until: 'Wait until a time of day',
  wait_for_event: 'Wait for an event',
  condition: 'Check a condition',
  split: 'Split at random',
  update_field: 'Update a field',
  join_group: 'Add to a group',
  leave_group: 'Remove from a group',
  notify: 'Notify the team',
  webhook: 'Call a webhook',
  exit: 'Exit',
} as const;

export const MESSAGE_OUTCOMES = {
  sent: 'was sent',
  delivered: 'was delivered',
  opened: 'was opened',
  clicked: 'was clicked',
  bounced: 'bounced',
  complained: 'was marked as spam',
  unsubscribed: 'led to an unsubscribe',
} as const;

/** Reads a saved draft, which the API lets be any object. */
export function readDefinition(draft: unknown): Definition {
  const { entry, steps, ...rest } = draft as Partial<Definition>;
  const known = Array.isArray(steps)
    ? steps.filter(({ id, type }) => typeof id === 'string' && type in STEP_TYPES)
    : [];
  return { ...rest, entry: typeof entry === 'object' ? entry : { type: 'manual' }, steps: known };
}

/** Where a step leads: `key` names the member that holds the id of the next one. */
export interface Exit {
  key: string;
  /** Which way it is; empty for the only one. */
  label: string;
  to: string | null;
}

export function exitsOf(step: Step): Exit[] {
  const exit = (key: 'next' | 'yes' | 'no' | 'onTimeout' | 'onFailure', label: string): Exit => ({
    key,
    label,
    to: step[key] ?? null,
  });
  switch (step.type) {
    case 'exit':
      return [];
    case 'condition':
      return [exit('yes', 'Yes'), exit('no', 'No')];
    case 'wait_for_event':
      return step.timeout === undefined
        ? [exit('next', '')]
        : [exit('next', 'When it happens'), exit('onTimeout', 'If it does not happen in time')];
    case 'webhook':
      return step.onFailure === undefined
        ? [exit('next', '')]
        : [exit('next', 'When it responds'), exit('onFailure', 'If all attempts fail')];
    case 'split':
      return (step.branches ?? []).map(({ percent, next }, index) => ({
        key: `branches.${index}`,
        label: `${percent} %`,
        to: next ?? null,
      }));
    default:
      return [exit('next', '')];
  }
}

/** A step that leads elsewhere. */
export function withExit(step: Step, key: string, to: string | null): Step {
  const branch = key.startsWith('branches.') ? Number(key.slice('branches.'.length)) : undefined;
  if (branch === undefined) return { ...step, [key]: to };
  return {
    ...step,
    branches: (step.branches ?? []).map((each, index) => (index === branch ? { ...each, next: to } : each)),
  };
}

/** Where a step is added: at the start, or where an exit of a step leads. */
export type Place = { stepId: string; key: string } | 'start';

/** What a new step has before it is filled in. */
const NEW: Partial<Record<StepType, Partial<Step>>> = {
  wait: { for: { days: 1 } },
  wait_until: { time: '09:00' },
  wait_for_event: { event: '', timeout: { days: 3 } },
  split: { branches: [{ percent: 50 }, { percent: 50 }] },
  update_field: { field: 'name', value: '' },
};

/** Adds a step, new or a copy of another; what followed at the place follows it. */
export function insertStep(
  definition: Definition,
  place: Place,
  added: StepType | Step,
): { definition: Definition; id: string } {
  const content = typeof added === 'string' ? { type: added, ...NEW[added] } : withoutExits(added);
  const id = newId(definition, content.type);
  const { steps } = definition;
  const from = place === 'start' ? undefined : steps.find((step) => step.id === place.stepId);
  const to =
    place === 'start'
      ? (steps[0]?.id ?? null)
      : (exitsOf(from as Step).find(({ key }) => key === place.key)?.to ?? null);
  const bare: Step = { ...content, id };
  const [first] = exitsOf(bare);
  const step = first === undefined ? bare : withExit(bare, first.key, to);
  if (place === 'start') return { definition: { ...definition, steps: [step, ...steps] }, id };
  const changed = steps.map((each) => (each === from ? withExit(each, place.key, id) : each));
  return { definition: { ...definition, steps: [...changed, step] }, id };
}

const withoutExits = (step: Step): Step =>
  exitsOf(step).reduce((changed, { key }) => withExit(changed, key, null), step);

function newId({ steps }: Definition, type: StepType): string {
  const taken = new Set(steps.map(({ id }) => id));
  for (let number = 1; ; number++) {
    const id = number === 1 ? type : `${type}_${number}`;
    if (!taken.has(id)) return id;
  }
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
  const target = removed.type === 'exit' ? cutOff(definition) : (exitsOf(removed)[0]?.to ?? null);
  const to = target === id ? null : target;
  const kept = steps
    .filter((step) => step !== removed)
    .map((step) =>
      exitsOf(step).reduce((changed, { key, to: old }) => (old === id ? withExit(changed, key, to) : changed), step),
    );
  if (steps[0] !== removed) return { ...definition, steps: kept };
  const first = kept.filter((step) => step.id === to);
  return { ...definition, steps: [...first, ...kept.filter((step) => step.id !== to)] };
}

/** The first step besides the first of all that no step leads to; null if there is none. */
function cutOff({ steps }: Definition): string | null {
  const reached = new Set(steps.flatMap(exitsOf).map(({ to }) => to));
  return steps.slice(1).find(({ id }) => !reached.has(id))?.id ?? null;
}

/** A step in the outline, with what follows each of its exits if there are several. */
export interface OutlineStep {
  step: Step;
  branches: { exit: Exit; line: Line }[];
}

/** Steps one after the other. */
export interface Line {
  steps: OutlineStep[];
  /** Where the line leads after its last step: to a step that is shown elsewhere, to an end, or on in branches. */
  end: { kind: 'jump'; to: string; place: Place } | { kind: 'end'; place: Place } | { kind: 'closed' };
}

/** The steps as a reader meets them, each once: what several steps lead to is shown after the first of them. */
export function outlineOf({ steps }: Definition): { line: Line; apart: Step[] } {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const shown = new Set<string>();
  const walk = (first: string | null, start: Place): Line => {
    const line: OutlineStep[] = [];
    let [to, place] = [first, start];
    for (;;) {
      const step = to === null ? undefined : byId.get(to);
      if (step === undefined) return { steps: line, end: { kind: 'end', place } };
      if (shown.has(step.id)) return { steps: line, end: { kind: 'jump', to: step.id, place } };
      shown.add(step.id);
      const exits = exitsOf(step);
      const [only] = exits;
      if (exits.length !== 1 || only === undefined) {
        const branches = exits.map((exit) => ({ exit, line: walk(exit.to, { stepId: step.id, key: exit.key }) }));
        return { steps: [...line, { step, branches }], end: { kind: 'closed' } };
      }
      line.push({ step, branches: [] });
      [to, place] = [only.to, { stepId: step.id, key: only.key }];
    }
  };
  const line = walk(steps[0]?.id ?? null, 'start');
  return { line, apart: steps.filter(({ id }) => !shown.has(id)) };
}
