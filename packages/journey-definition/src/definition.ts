import { displayNameProblem, isTimeZone, MAX_EVENT_NAME_LENGTH } from '@postroom/errors';
import { z } from 'zod';
import { camelKeys } from './camel-keys.ts';

/** The most steps of a journey. */
const MAX_STEPS = 200;
/** The most branches of a split. */
const MAX_BRANCHES = 20;
/** The most conditions on the properties of an event. */
const MAX_CONDITIONS = 20;
/** The most days of a wait. */
const MAX_DAYS = 365;
/** The longest text of a notification, in characters. */
const MAX_NOTICE_LENGTH = 150;
/** The most members that a notification names. */
const MAX_MEMBERS = 20;
/** The longest URL of a webhook, in characters. */
const MAX_URL_LENGTH = 2048;
/** The longest id of a step, in characters. */
export const MAX_STEP_ID_LENGTH = 50;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const stepId = z
  .string()
  .regex(/^[\w-]+$/, 'must be letters, digits, - or _')
  .max(MAX_STEP_ID_LENGTH, `must be at most ${MAX_STEP_ID_LENGTH} characters`);
/** The step that follows; null or omitted ends the run. */
const next = stepId.nullish();
const text = (max: number) =>
  z.string().trim().min(1, 'must not be empty').max(max, `must be at most ${max} characters`);
const addProblem = (context: z.RefinementCtx, message: string | undefined) => {
  if (message !== undefined) context.addIssue({ code: 'custom', message });
};
const eventName = z
  .string()
  .trim()
  .normalize()
  .superRefine((name, context) => addProblem(context, displayNameProblem(name, MAX_EVENT_NAME_LENGTH)));
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:00');

/** A length of time. */
interface Duration {
  days?: number | undefined;
  hours?: number | undefined;
  minutes?: number | undefined;
}

export const durationMs = ({ days = 0, hours = 0, minutes = 0 }: Duration): number =>
  days * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS;

const whole = z.number().int().min(0).optional();
const duration = z
  .strictObject({ days: whole, hours: whole, minutes: whole })
  .refine((given) => durationMs(given) >= MINUTE_MS && durationMs(given) <= MAX_DAYS * DAY_MS, {
    message: `must be 1 minute to ${MAX_DAYS} days`,
  });

/** A condition on a property of an event. A property that is missing equals nothing. */
const propertyCondition = z.discriminatedUnion('op', [
  z.strictObject({
    property: text(500),
    op: z.enum(['is', 'isNot']),
    value: z.union([z.string(), z.number(), z.boolean()], { error: 'must be a string, a number, true or false' }),
  }),
  z.strictObject({ property: text(500), op: z.enum(['contains', 'notContains']), value: text(500) }),
  z.strictObject({ property: text(500), op: z.enum(['moreThan', 'lessThan', 'atLeast', 'atMost']), value: z.number() }),
  z.strictObject({ property: text(500), op: z.enum(['isSet', 'isNotSet']) }),
]);

export type PropertyCondition = z.infer<typeof propertyCondition>;

const where = z.array(propertyCondition).max(MAX_CONDITIONS, `must be at most ${MAX_CONDITIONS} conditions`).optional();

/** A segment filter; publishing checks it against the project. */
const filter = z.custom<object>((given) => typeof given === 'object' && given !== null, 'must be a filter');

const groupId = z.string();
const base = { id: stepId };

const steps = [
  z.strictObject({
    ...base,
    type: z.literal('send'),
    templateId: z.string(),
    from: z.string(),
    replyTo: z.string().nullish(),
    /** Mail that the contact needs, such as a receipt: it goes to addresses that unsubscribed, and has no unsubscribe link. */
    transactional: z.boolean().optional(),
    next,
  }),
  z.strictObject({ ...base, type: z.literal('wait'), for: duration, next }),
  z.strictObject({
    ...base,
    type: z.literal('wait_until'),
    time: timeOfDay,
    /** 1 for Monday to 7 for Sunday; every day if omitted. */
    weekdays: z.array(z.number().int().min(1).max(7)).min(1, 'must name a day').max(7).optional(),
    next,
  }),
  z.strictObject({
    ...base,
    type: z.literal('wait_for_event'),
    event: eventName,
    where,
    /** Which events count: those since the contact entered, or since it reached the step. */
    since: z.enum(['enrollment', 'step']).optional(),
    timeout: duration.optional(),
    next,
    onTimeout: next,
  }),
  z
    .strictObject({
      ...base,
      type: z.literal('condition'),
      filter: filter.optional(),
      segmentId: z.string().optional(),
      where,
      message: z
        .strictObject({
          stepId,
          outcome: z.enum(['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'unsubscribed']),
        })
        .optional(),
      yes: next,
      no: next,
    })
    .refine(
      (given) => [given.filter, given.segmentId, given.where, given.message].some((each) => each !== undefined),
      'must have filter, segmentId, where or message',
    ),
  z
    .strictObject({
      ...base,
      type: z.literal('split'),
      branches: z
        .array(z.strictObject({ percent: z.number().min(0).max(100), next }))
        .min(2, 'must be at least 2 branches')
        .max(MAX_BRANCHES, `must be at most ${MAX_BRANCHES} branches`),
    })
    .refine(({ branches }) => Math.abs(branches.reduce((sum, { percent }) => sum + percent, 0) - 100) < 0.001, {
      message: 'must add up to 100 percent',
      path: ['branches'],
    }),
  z.strictObject({
    ...base,
    type: z.literal('update_field'),
    /** `name` or `customFields.<key>`. */
    field: z.string().regex(/^(name|custom_?[fF]ields\.\w+)$/, 'must be name or customFields.<key>'),
    /** Null clears the field. */
    value: z.union([z.string(), z.number(), z.boolean(), z.null()], {
      error: 'must be a string, a number, true, false or null',
    }),
    next,
  }),
  z.strictObject({ ...base, type: z.enum(['join_group', 'leave_group']), groupId, next }),
  z.strictObject({
    ...base,
    type: z.literal('notify'),
    /** A line of text for the owners and admins of the project. */
    text: z
      .string()
      .trim()
      .superRefine((given, context) => addProblem(context, displayNameProblem(given, MAX_NOTICE_LENGTH))),
    /** Other members who are notified too, by user id. */
    memberIds: z.array(z.string()).max(MAX_MEMBERS, `must be at most ${MAX_MEMBERS} members`).optional(),
    next,
  }),
  z.strictObject({
    ...base,
    type: z.literal('webhook'),
    /** The URL to which the contact is posted. Later steps can read the response. */
    url: text(MAX_URL_LENGTH),
    next,
    /** The step that follows if no attempt succeeded; `next` if omitted. */
    onFailure: next,
  }),
  z.strictObject({ ...base, type: z.literal('exit') }),
] as const;

const STEP_TYPES = [
  'send',
  'wait',
  'wait_until',
  'wait_for_event',
  'condition',
  'split',
  'update_field',
  'join_group',
  'leave_group',
  'notify',
  'webhook',
  'exit',
] as const;

const step = z.union(steps);
export type Step = z.infer<typeof step>;
export type StepOf<Type extends Step['type']> = Extract<Step, { type: Type }>;

const entryFilter = { filter: filter.optional() };
const entry = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('manual'), ...entryFilter }),
  z.strictObject({ type: z.literal('event'), event: eventName, where, ...entryFilter }),
  z.strictObject({ type: z.literal('group_joined'), groupId, ...entryFilter }),
  z.strictObject({ type: z.literal('form_confirmed'), formId: z.string(), ...entryFilter }),
  z.strictObject({ type: z.enum(['segment_entered', 'segment_left']), segmentId: z.string(), ...entryFilter }),
  z.strictObject({
    type: z.literal('date'),
    /** A custom field with a date. */
    field: z.string().regex(/^custom_?[fF]ields\.\w+$/, 'must be customFields.<key>'),
    /** Days after the date, or before it if negative. */
    offsetDays: z.number().int().min(-MAX_DAYS).max(MAX_DAYS).optional(),
    /** Each year after that of the date, instead of once. */
    yearly: z.boolean().optional(),
    time: timeOfDay,
    ...entryFilter,
  }),
]);

/** The parts of a definition besides its steps. */
const header = z.strictObject({
  entry,
  /**
   * Whether a contact may enter again after its run has ended: never, always, or so many days after it last entered. Always is the
   * default of a yearly date, and never that of all others. By a group or a segment, always means at most once an hour.
   */
  reentry: z
    .union([z.enum(['once', 'always']), z.strictObject({ afterDays: z.number().int().min(1).max(3650) })], {
      error: 'must be once, always, or after_days of 1 to 3650',
    })
    .optional(),
  /** Ends the run of a contact, whatever its step, when the event happens. */
  goal: z.strictObject({ event: eventName, where }).optional(),
  /** Times of day, which may span midnight, at which the journey sends nothing but transactional mail. */
  quietHours: z.strictObject({ from: timeOfDay, to: timeOfDay }).optional(),
  /** The most messages that need consent, of journeys and campaigns, that a contact gets in a number of days. */
  frequencyCap: z
    .strictObject({ messages: z.number().int().min(1).max(100), days: z.number().int().min(1).max(90) })
    .optional(),
  /** The time zone of `wait_until` and of quiet hours, unless the contact has its own in `timeZoneField`. */
  timeZone: z.string().refine(isTimeZone, 'must be a time zone such as Europe/Berlin').optional(),
  /** The custom field with a contact's own time zone. */
  timeZoneField: z.string().optional(),
});

/** A valid definition. The first step is where contacts enter. */
export interface Definition extends z.infer<typeof header> {
  steps: Step[];
}

/** The key in `customFields.plan` or `custom_fields.plan`. */
export const customFieldKey = (name: string): string => name.replace(/^custom_?fields\./i, '');

/** The rule of entering again, or its default. */
export const reentryOf = ({ entry, reentry }: Definition): NonNullable<Definition['reentry']> =>
  reentry ?? (entry.type === 'date' && entry.yearly === true ? 'always' : 'once');

/** What is wrong with a definition: `field` is a path, and `stepId` the step it is in. */
export interface DefinitionProblem {
  field: string;
  message: string;
  stepId?: string | undefined;
}

/** The definition, or the problems of its form. References to templates and groups are not checked. */
export function parseDefinition(given: unknown): { definition?: Definition; problems: DefinitionProblem[] } {
  const { steps: givenSteps, ...rest } = camelKeys(given) as Record<string, unknown>;
  const problems: DefinitionProblem[] = [];
  const parsed = header.safeParse(rest);
  for (const issue of parsed.error?.issues ?? []) problems.push(problemOf(issue, 'definition'));
  const list = Array.isArray(givenSteps) ? givenSteps : [];
  if (givenSteps != null && !Array.isArray(givenSteps))
    problems.push({ field: 'definition.steps', message: 'must be an array' });
  else if (list.length === 0) problems.push({ field: 'definition.steps', message: 'must have at least one step' });
  if (list.length > MAX_STEPS)
    problems.push({ field: 'definition.steps', message: `must be at most ${MAX_STEPS} steps` });
  const valid = list.slice(0, MAX_STEPS).map((each, index) => parseStep(each, index, problems));
  if (problems.length > 0 || !parsed.success) return { problems };
  return { definition: { ...parsed.data, steps: valid as Step[] }, problems };
}

function parseStep(given: unknown, index: number, problems: DefinitionProblem[]): Step | undefined {
  const path = `definition.steps.${index}`;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    problems.push({ field: path, message: 'must be an object' });
    return undefined;
  }
  const { id, type } = given as { id?: unknown; type?: unknown };
  const ofStep = typeof id === 'string' ? { stepId: id } : {};
  const schema = steps.find((each) => accepts(each, type));
  if (schema === undefined) {
    problems.push({ field: `${path}.type`, message: `must be one of: ${STEP_TYPES.join(', ')}`, ...ofStep });
    return undefined;
  }
  const parsed = schema.safeParse(given);
  for (const issue of parsed.error?.issues ?? []) problems.push({ ...problemOf(issue, path), ...ofStep });
  return parsed.data;
}

const accepts = (schema: (typeof steps)[number], type: unknown): boolean => schema.shape.type.safeParse(type).success;

/** In the words of the rest of the API. */
const TYPE_PROBLEMS: Record<string, string> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be an array',
  object: 'must be an object',
};

function problemOf(issue: z.core.$ZodIssue, path: string): DefinitionProblem {
  const field = [path, ...issue.path.map(String)].join('.');
  if (issue.code === 'unrecognized_keys')
    return { field: `${field}.${issue.keys[0]}`, message: 'is not a known field' };
  if (issue.code === 'invalid_type' && issue.input === undefined)
    return {
      field,
      message: /received undefined/.test(issue.message)
        ? 'is required'
        : (TYPE_PROBLEMS[issue.expected] ?? 'is invalid'),
    };
  if (issue.code === 'invalid_union')
    return {
      field,
      message: issue.message
        .replace(/^Invalid discriminator value. Expected /, 'must be one of: ')
        .replaceAll("'", '')
        .replaceAll(' | ', ', '),
    };
  if (issue.code === 'too_small' && issue.message.startsWith('Too'))
    return { field, message: `must be at least ${issue.minimum}` };
  if (issue.code === 'too_big' && issue.message.startsWith('Too'))
    return { field, message: `must be at most ${issue.maximum}` };
  if (issue.code === 'invalid_value') return { field, message: `must be one of: ${issue.values.join(', ')}` };
  return { field, message: issue.message.replace(/^Invalid input: expected/, 'must be') };
}

/** The steps that may follow a step, with the name of the property that leads there; null ends the run. */
export function exitsOf(given: Step): { label: string; to: string | null }[] {
  switch (given.type) {
    case 'condition':
      return [
        { label: 'yes', to: given.yes ?? null },
        { label: 'no', to: given.no ?? null },
      ];
    case 'split':
      return given.branches.map(({ next: to }, index) => ({ label: `branches.${index}.next`, to: to ?? null }));
    case 'wait_for_event':
      return [
        { label: 'next', to: given.next ?? null },
        ...(given.timeout === undefined ? [] : [{ label: 'onTimeout', to: given.onTimeout ?? null }]),
      ];
    case 'webhook':
      return [
        { label: 'next', to: given.next ?? null },
        ...(given.onFailure === undefined ? [] : [{ label: 'onFailure', to: given.onFailure ?? null }]),
      ];
    case 'exit':
      return [];
    default:
      return [{ label: 'next', to: given.next ?? null }];
  }
}
