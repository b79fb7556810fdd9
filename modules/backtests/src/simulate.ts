// Takes one contact through a definition in simulated time, by the rules of real execution. Pure: it yields a question for everything that
// only the database knows.
import { customFieldKey, type Definition, matches, type Step, type StepOf, zoneOf } from '@postroom/journey-definition';
import {
  computeArrival,
  computeDeparture,
  computeTriggeredDeparture,
  type Departure,
  getStep,
  isEntryTrigger,
  type JourneyTrigger,
  quietUntil,
  refusalOf,
} from '@postroom/journeys';

const DAY_MS = 86_400_000;
/** The most runs of a contact, and steps of a run. Loops take at least an hour, so windows reach neither in practice. */
const MAX_RUNS = 1_000;
const MAX_STEPS = 5_000;

/** Something that happened to the contact, at a time in milliseconds. */
export interface Fact extends JourneyTrigger {
  at: number;
  /** The event without the defaults that the project declared, as waits for earlier events see it. */
  raw?: Record<string, unknown>;
  /** It is an enrollment by request, which every journey accepts. */
  isEnrollment?: true;
}

/** What is known about a contact. */
export interface ContactFacts {
  id: string;
  customFields: Record<string, unknown>;
  /** In order. */
  facts: readonly Fact[];
  /** When each suppression of the address was added. */
  suppressions: readonly { reason: string; at: number }[];
  /** When it got other mail that counts towards frequency caps. */
  mail: readonly number[];
}

/** The outcomes of messages that conditions ask for. */
type Outcome = NonNullable<StepOf<'condition'>['message']>['outcome'];
/** The percentage of sent messages that have each outcome. */
export type Assumptions = Record<Exclude<Outcome, 'sent'>, number>;

interface Cap {
  messages: number;
  days: number;
}

/** What all contacts of a simulation share. */
export interface World {
  /** The simulated time, in milliseconds: from the first instant to the last. */
  from: number;
  until: number;
  assumptions: Assumptions;
  /** The frequency cap of the project. */
  projectCap: Cap | undefined;
  /** A number from 0 to 100 for a text, always the same. */
  chance: (text: string) => number;
}

/** Whether the contact passes the filter of the entry, or of a condition, at a time. `fields` are those that steps have set. */
export interface Question {
  step: StepOf<'condition'> | undefined;
  at: number;
  fields: Record<string, unknown>;
}

/** A step that a run has left. Times are in milliseconds. */
export interface SimulatedStep {
  stepId: string;
  arrivedAt: number;
  leftAt: number;
  outcome: string;
}

/** A run of a contact. It waits at `stepId` if it has no `endReason`. */
export interface SimulatedRun {
  enteredAt: number;
  endedAt: number | null;
  endReason: string | null;
  stepId: string;
  dueAt: number | null;
  steps: SimulatedStep[];
}

export interface Simulation {
  runs: SimulatedRun[];
  /** How often the rule for entering again refused it. */
  notAgain: number;
  /** How often the filter of the entry refused it. */
  notMatching: number;
}

interface OpenRun extends SimulatedRun {
  id: string;
  visit: number;
  arrivedAt: number;
  waitsFor: string | null;
  properties: Record<string, unknown>;
}

/** Takes the contact through the definition. Yields questions; each answer is whether the contact passes. */
export function* simulate(
  definition: Definition,
  contact: ContactFacts,
  world: World,
): Generator<Question, Simulation, boolean> {
  const found: Simulation = { runs: [], notAgain: 0, notMatching: 0 };
  const state: State = { definition, contact, world, fields: {}, sent: [], run: undefined };
  for (const fact of contact.facts) {
    yield* carryOutDue(state, fact.at - 1);
    const { run } = state;
    if (run !== undefined) {
      const departure = computeTriggeredDeparture(fact, run, definition);
      if (departure !== undefined) move(state, run, departure, fact.at);
      continue;
    }
    if ((fact.isEnrollment !== true && !isEntryTrigger(definition, fact)) || found.runs.length >= MAX_RUNS) continue;
    const isMatching = definition.entry.filter === undefined || (yield question(state, undefined, fact.at));
    const last = found.runs.at(-1);
    const lastRun = last === undefined ? undefined : { enteredAt: new Date(last.enteredAt), isOpen: false };
    const refusal = refusalOf(definition, lastRun, { isMatching, now: fact.at });
    if (refusal === 'not_again') found.notAgain++;
    if (refusal === 'not_matching') found.notMatching++;
    if (refusal === undefined) found.runs.push(enter(state, fact, found.runs.length));
  }
  yield* carryOutDue(state, world.until);
  return found;
}

interface State {
  definition: Definition;
  contact: ContactFacts;
  world: World;
  /** The custom fields that steps have set. */
  fields: Record<string, unknown>;
  /** When simulated messages that count towards frequency caps were sent. */
  sent: number[];
  run: OpenRun | undefined;
}

const question = ({ fields }: State, step: StepOf<'condition'> | undefined, at: number): Question => ({
  step,
  at,
  fields: { ...fields },
});

const fieldsOf = ({ contact, fields }: State) => ({ ...contact.customFields, ...fields });

function enter(state: State, { at, properties }: Fact, number: number): OpenRun {
  const { definition, contact } = state;
  const run: OpenRun = {
    id: `${contact.id} ${number}`,
    visit: 1,
    stepId: definition.steps[0]?.id ?? '',
    enteredAt: at,
    arrivedAt: at,
    properties,
    waitsFor: null,
    dueAt: null,
    endedAt: null,
    endReason: null,
    steps: [],
  };
  state.run = run;
  place(state, run, { to: definition.steps[0]?.id ?? null }, at);
  return run;
}

/** Puts a run at the step where it arrives, or ends it. */
function place(state: State, run: OpenRun, { to, endReason }: Pick<Departure, 'to' | 'endReason'>, at: number): void {
  const { definition } = state;
  const step = to === null ? undefined : getStep(definition, to);
  const isSeen = step?.type === 'wait_for_event' && step.since !== 'step' && hasHappened(state, run, step, at);
  const arrival = computeArrival(
    definition,
    { to, from: run.stepId, endReason },
    { now: at, customFields: fieldsOf(state), happened: isSeen },
  );
  run.stepId = arrival.stepId;
  run.arrivedAt = at;
  run.dueAt = arrival.dueAt?.getTime() ?? null;
  run.waitsFor = arrival.waitsFor;
  run.endReason = arrival.endReason;
  if (arrival.endReason === null) return;
  run.endedAt = at;
  state.run = undefined;
}

/** Lets a run leave its step. */
function move(state: State, run: OpenRun, departure: Departure, at: number): void {
  const { stepId, arrivedAt } = run;
  run.steps.push({ stepId, arrivedAt, leftAt: at, outcome: departure.outcome });
  run.visit++;
  place(state, run, departure, at);
}

/** Carries out the steps that fall due until a time. */
function* carryOutDue(state: State, until: number): Generator<Question, void, boolean> {
  for (let { run } = state; run?.dueAt != null && run.dueAt <= until; { run } = state) {
    if (run.steps.length >= MAX_STEPS) return;
    const at = run.dueAt;
    const step = getStep(state.definition, run.stepId);
    if (step.type === 'send') send(state, run, step, at);
    // No URL is called: every call is assumed to succeed, with an empty response.
    else if (step.type === 'webhook') move(state, run, { outcome: 'called', to: step.next ?? null }, at);
    else {
      const passes = step.type === 'condition' && (yield* passesCondition(state, run, step, at));
      const happened = step.type === 'wait_for_event' && step.since !== 'step' && hasHappened(state, run, step, at);
      move(state, run, computeDeparture(step, run, { passes, happened }), at);
      setField(state, step);
    }
  }
}

function send(state: State, run: OpenRun, step: StepOf<'send'>, at: number): void {
  const { definition, contact, world } = state;
  const { quietHours, frequencyCap } = definition;
  const needsConsent = step.transactional !== true;
  const until =
    needsConsent && quietHours !== undefined
      ? quietUntil(zoneOf(definition, fieldsOf(state)), quietHours, at)
      : undefined;
  if (until !== undefined) {
    run.dueAt = until.getTime();
    return;
  }
  const caps = needsConsent ? [frequencyCap, world.projectCap] : [];
  const isSuppressed = contact.suppressions.some(
    ({ reason, at: since }) => since <= at && (needsConsent || reason !== 'unsubscribed'),
  );
  const outcome = caps.some((cap) => cap !== undefined && isAtCap(state, cap, at))
    ? 'capped'
    : isSuppressed
      ? 'suppressed'
      : 'sent';
  if (outcome === 'sent' && needsConsent) state.sent.push(at);
  move(state, run, { outcome, to: step.next ?? null }, at);
}

function isAtCap({ contact, sent }: State, { messages, days }: Cap, at: number): boolean {
  const counts = (each: number) => each > at - days * DAY_MS && each <= at;
  return contact.mail.filter(counts).length + sent.filter(counts).length >= messages;
}

/** Whether the contact had the event that a step waits for since it entered. The event that it entered with does not count. */
function hasHappened(
  { definition: { entry }, contact }: State,
  { enteredAt }: OpenRun,
  step: StepOf<'wait_for_event'>,
  at: number,
): boolean {
  const isEntry = entry.type === 'event' && entry.event === step.event;
  return contact.facts.some(
    (fact) =>
      fact.kind === 'event' &&
      fact.key === step.event &&
      fact.at <= at &&
      (isEntry ? fact.at > enteredAt : fact.at >= enteredAt) &&
      matches(fact.raw ?? fact.properties, step.where),
  );
}

/** Whether the contact passes a condition. */
function* passesCondition(
  state: State,
  run: OpenRun,
  step: StepOf<'condition'>,
  at: number,
): Generator<Question, boolean, boolean> {
  if (!matches({ ...run.properties, steps: {} }, step.where)) return false;
  if (step.message !== undefined && !hadOutcome(state, run, step.message)) return false;
  if (step.filter === undefined && step.segmentId === undefined) return true;
  return yield question(state, step, at);
}

/** Whether the last message of a step is assumed to have had the outcome. */
function hadOutcome(
  { world: { assumptions, chance } }: State,
  run: OpenRun,
  { stepId, outcome }: NonNullable<StepOf<'condition'>['message']>,
): boolean {
  const last = run.steps.findLast((step) => step.stepId === stepId && /^(sent|suppressed)$/.test(step.outcome));
  if (last?.outcome !== 'sent') return false;
  return outcome === 'sent' || chance(`${run.id} ${stepId} ${last.arrivedAt} ${outcome}`) < assumptions[outcome];
}

/** Keeps the custom field that a step has set. */
function setField({ fields }: State, step: Step): void {
  if (step.type === 'update_field' && step.field !== 'name') fields[customFieldKey(step.field)] = step.value;
}
