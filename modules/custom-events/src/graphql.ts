import { Contact, loadContact } from '@postroom/contacts/graphql';
import {
  ADDRESS,
  atMost,
  batchLoader,
  batchLoaders,
  builder,
  callerProject,
  type Context,
  db,
  JSON_OBJECT,
  jsonSchema,
  MAX_ID_LENGTH,
  Node,
  NOT_EMPTY,
  notNull,
  registerNode,
  removalMutation,
  relayNames,
  rowsQuery,
  displayName,
  MAX_EVENT_NAME_LENGTH,
} from '@postroom/platform';
import { FUTURE_MINUTES, LATE_DAYS, MAX_EVENT_KEY_LENGTH } from './check-event.ts';
import {
  checkLatest,
  type CustomEvent as CustomEventRow,
  findEvents,
  latestEventsOf,
  listEvents,
  MAX_LATEST,
} from './custom-events.ts';
import {
  COUNTED_DAYS,
  countsOf,
  type DayCount,
  deleteDefinition,
  getDefinition,
  listDefinitions,
  MAX_DESCRIPTION_LENGTH,
  updateDefinition,
} from './definitions.ts';
import { DEFINITION_ID, MAX_PROPERTIES } from './event-schema.ts';
import { EXAMPLE_LENGTH, MAX_PROPERTY_NAME_LENGTH, type PropertyType } from './properties.ts';
import { EVENT_ID, MAX_EVENTS, type TrackResult, trackEvents } from './track.ts';

const CustomEvent = builder.objectRef<CustomEventRow>('CustomEvent').implement({
  interfaces: [Node],
  description: 'An event that a contact caused in your product, such as `order placed`.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Event id.' }),
    name: t.exposeString('name', { description: 'What happened.', ...atMost(MAX_EVENT_NAME_LENGTH) }),
    contactId: t.exposeID('contactId', { description: 'The contact that caused it.' }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact that caused it; null if it has been deleted.',
      resolve: async ({ contactId }, _args, context) => (await loadContact(context, contactId)) ?? null,
    }),
    properties: t.expose('properties', {
      type: 'JSON',
      description: 'The properties, as they were sent.',
      ...JSON_OBJECT,
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When it occurred.' }),
    receivedAt: t.expose('receivedAt', { type: 'DateTime', description: 'When it was accepted.' }),
  }),
});

registerNode(EVENT_ID, 'CustomEvent', (context, ids) => findEvents(callerProject(context), ids));

builder.queryField('customEvents', (t) =>
  t.connection(
    {
      type: CustomEvent,
      description: "The project's custom events that match every filter, latest first.",
      args: {
        contactId: t.arg.id({ description: 'Only events of this contact.' }),
        email: t.arg.string({ description: 'Only events of the contact with this address.' }),
        name: t.arg.string({ description: 'Only events with this name.' }),
        from: t.arg({ type: 'DateTime', description: 'Only events that occurred at this time or later.' }),
        to: t.arg({ type: 'DateTime', description: 'Only events that occurred before this time.' }),
      },
      resolve: (_root, { first, after, ...filter }, context) =>
        listEvents(callerProject(context), filter, { first, after }),
    },
    ...relayNames('CustomEvent'),
  ),
);

const latestLoader = batchLoaders((count: number, context: Context, ids) =>
  latestEventsOf(callerProject(context), ids, count),
);

builder.objectField(Contact, 'events', (t) =>
  t.field({
    type: [CustomEvent],
    description: 'Its latest custom events, latest first. `customEvents` lists all of them.',
    complexity: 20,
    args: {
      latest: t.arg.int({ defaultValue: 20, description: `Number of events, 1 to ${MAX_LATEST}.` }),
    },
    resolve: async ({ id }, { latest }, context) => (await latestLoader(checkLatest(latest ?? 20))(context, id)) ?? [],
  }),
);

// ---- Tracking ------------------------------------------------------------------------------------------------------

const eventFields = {
  id: {
    description:
      'Your own id for the event, up to 200 characters. A later event with the same id is a duplicate, and is not stored.',
    ...jsonSchema({ minLength: 1, maxLength: MAX_EVENT_KEY_LENGTH }),
  },
  name: { description: 'The name of the event, such as `order placed`; up to 100 characters.' },
  contactId: { description: 'The contact that caused it; required unless `email` is given.' },
  email: { description: "The contact's address, instead of its id.", ...jsonSchema(ADDRESS) },
  createContact: { description: 'Whether to create a contact with the address if there is none; defaults to false.' },
  properties: {
    type: 'JSON' as const,
    description: 'The properties of the event, up to 16 KB: an object of texts, numbers, booleans, arrays and objects.',
    ...JSON_OBJECT,
  },
  occurredAt: {
    description: `When it occurred, in ISO 8601 with an offset: at most ${LATE_DAYS} days ago, at most ${FUTURE_MINUTES} minutes ahead. Defaults to now.`,
  },
};

const CustomEventInput = builder.inputType('CustomEventInput', {
  description: 'One event of several. Problems are reported in its result.',
  fields: (t) => ({
    id: t.string({ description: eventFields.id.description }),
    name: t.string(eventFields.name),
    contactId: t.id(eventFields.contactId),
    email: t.string({ description: eventFields.email.description }),
    createContact: t.boolean(eventFields.createContact),
    properties: t.field({ type: 'JSON', description: eventFields.properties.description }),
    occurredAt: t.string(eventFields.occurredAt),
  }),
});

const TrackEventsInput = builder.inputType('TrackEventsInput', {
  description: 'One event, by its fields, or several in `events`.',
  ...NOT_EMPTY,
  fields: (t) => ({
    events: t.field({
      type: [CustomEventInput],
      description: `1 to 1,000 events, instead of the fields of one.`,
      ...jsonSchema({ minItems: 1, maxItems: MAX_EVENTS }),
    }),
    id: t.string(eventFields.id),
    name: t.string({ ...eventFields.name, ...jsonSchema(displayName(MAX_EVENT_NAME_LENGTH)) }),
    contactId: t.id({ ...eventFields.contactId, ...atMost(MAX_ID_LENGTH) }),
    email: t.string(eventFields.email),
    createContact: t.boolean(eventFields.createContact),
    properties: t.field(eventFields.properties),
    occurredAt: t.string({ ...eventFields.occurredAt, ...jsonSchema({ format: 'date-time' }) }),
  }),
});

const TrackStatus = builder.enumType('TrackStatus', {
  description: 'The outcome of an event.',
  values: {
    accepted: { description: 'It is stored.' },
    duplicate: { description: 'An earlier event has its id. It is not stored again.' },
    error: { description: 'It is not stored; `error` says why.' },
  },
});

const TrackError = builder.objectRef<{ field: string; message: string }>('TrackError').implement({
  description: 'A problem with an event.',
  fields: (t) => ({
    field: t.exposeString('field', {
      description: 'The path of the field in the request, such as `events.3.occurredAt`.',
    }),
    message: t.exposeString('message', { description: 'What is wrong with the field.' }),
  }),
});

const TrackResultType = builder.objectRef<TrackResult>('TrackResult').implement({
  description: 'The result for one event.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its index in the request, from 0.' }),
    status: t.expose('status', { type: TrackStatus, description: 'Its outcome.' }),
    eventId: t.exposeID('id', {
      nullable: true,
      description: 'Id of the event, or of the earlier one for a duplicate; null for an error.',
    }),
    error: t.field({
      type: TrackError,
      nullable: true,
      description: 'The problem; null unless the status is `error`.',
      resolve: (result) => (result.status === 'error' ? result.error : null),
    }),
  }),
});

const count = (results: readonly TrackResult[], status: TrackResult['status']) =>
  results.filter((result) => result.status === status).length;

const TrackEventsPayload = builder.objectRef<readonly TrackResult[]>('TrackEventsPayload').implement({
  description: 'The outcome of each event.',
  fields: (t) => ({
    accepted: t.int({
      description: 'How many were stored.',
      resolve: (results) => count(results, 'accepted'),
    }),
    duplicates: t.int({
      description: 'How many had the id of an earlier event.',
      resolve: (results) => count(results, 'duplicate'),
    }),
    errors: t.int({ description: 'How many were rejected.', resolve: (results) => count(results, 'error') }),
    results: t.field({
      type: [TrackResultType],
      description: 'One result for each event, in the order of the request.',
      resolve: (results) => [...results],
    }),
  }),
});

builder.mutationField('trackEvents', (t) =>
  t.field({
    type: TrackEventsPayload,
    description: 'Records one event, or up to 1,000. An invalid event does not block the others.',
    args: { input: t.arg({ type: TrackEventsInput, required: true, description: 'The event or events.' }) },
    resolve: (_root, { input }, context) => trackEvents(callerProject(context), input),
  }),
);

// ---- Definitions ---------------------------------------------------------------------------------------------------

const CustomEventPropertyType = builder.enumType('CustomEventPropertyType', {
  description: 'The type of a property. A text that is an ISO 8601 date, with or without a time, is a date.',
  values: {
    array: { description: 'A list.' },
    boolean: { description: 'True or false.' },
    date: { description: 'An ISO 8601 date, with or without a time, as a string.' },
    number: { description: 'A number.' },
    object: { description: 'An object.' },
    string: { description: 'Any other string.' },
  } satisfies Record<PropertyType, { description: string }>,
});

builder.prismaObject('CustomEventProperty', {
  description: 'A property that events of a name have had.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'The path of the property, such as `cart.total`.',
      ...atMost(MAX_PROPERTY_NAME_LENGTH),
    }),
    types: t.field({
      type: [CustomEventPropertyType],
      description: 'The types of the values received.',
      resolve: ({ types }) => types as PropertyType[],
    }),
    type: t.field({
      type: CustomEventPropertyType,
      nullable: true,
      description: 'The type that was declared; null if none was.',
      resolve: ({ type }) => type as PropertyType | null,
    }),
    hasConflict: t.boolean({
      description: 'Whether values of several types, or of a type other than the declared one, were received.',
      resolve: ({ types, type }) => (type === null ? types.length > 1 : types.some((each) => each !== type)),
    }),
    description: t.exposeString('description', {
      description: 'The description, if there is one.',
      ...atMost(MAX_DESCRIPTION_LENGTH),
    }),
    defaultValue: t.expose('defaultValue', {
      type: 'JSON',
      nullable: true,
      description: 'The value to assume for events without the property; null for none.',
    }),
    example: t.exposeString('example', {
      nullable: true,
      description: 'A value received, shortened.',
      ...atMost(EXAMPLE_LENGTH),
    }),
    firstSeenAt: t.expose('firstSeenAt', { type: 'DateTime', description: 'When an event first had it.' }),
    lastSeenAt: t.expose('lastSeenAt', {
      type: 'DateTime',
      description: 'When an event last had it, to the minute.',
    }),
  }),
});

const loadCounts = batchLoader((context: Context, names) => countsOf(callerProject(context), names));

const CustomEventDay = builder.objectRef<DayCount>('CustomEventDay').implement({
  description: 'How many events of a name occurred on a day.',
  fields: (t) => ({
    day: t.exposeString('day', { description: 'The day in UTC, YYYY-MM-DD.' }),
    eventCount: t.exposeFloat('eventCount', { description: 'How many events occurred on that day.' }),
  }),
});

const CustomEventDefinition = builder.prismaObject('CustomEventDefinition', {
  interfaces: [Node],
  description: 'An event name of the project and its properties, discovered from the events received.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Definition id.' }),
    name: t.exposeString('name', { description: 'The name of the events.', ...atMost(MAX_EVENT_NAME_LENGTH) }),
    description: t.exposeString('description', {
      description: 'The description, if there is one.',
      ...atMost(MAX_DESCRIPTION_LENGTH),
    }),
    locked: t.exposeBoolean('locked', {
      description: 'Whether events with other properties, or with values of other types, are rejected.',
    }),
    eventCount: t.float({
      select: { name: true },
      description: `How many events occurred in the last ${COUNTED_DAYS} days.`,
      resolve: async ({ name }, _args, context) =>
        ((await loadCounts(context, name)) ?? []).reduce((sum, day) => sum + day.eventCount, 0),
    }),
    days: t.field({
      type: [CustomEventDay],
      select: { name: true },
      description: `Each of the last ${COUNTED_DAYS} days, today included, oldest first.`,
      complexity: { field: 1, multiplier: COUNTED_DAYS },
      resolve: async ({ name }, _args, context) => (await loadCounts(context, name)) ?? [],
    }),
    properties: t.relation('properties', {
      description: 'Its properties, ordered by name; at most 200.',
      complexity: { field: 1, multiplier: 1 }, // most names have a few
      query: { orderBy: { name: 'asc' } },
    }),
    firstSeenAt: t.expose('firstSeenAt', { type: 'DateTime', description: 'When the first event was received.' }),
    lastSeenAt: t.expose('lastSeenAt', {
      type: 'DateTime',
      description: 'When the last event was received, to the minute.',
    }),
  }),
});

registerNode(
  DEFINITION_ID,
  'CustomEventDefinition',
  (context, ids) =>
    db.customEventDefinition.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'read',
  {
    select: `SELECT id, name, description, locked FROM custom_event_definitions
      WHERE id = ANY ($1::text[]) AND project_id = $2`,
  },
);

builder.queryFields((t) => ({
  customEventDefinition: t.prismaField({
    type: CustomEventDefinition,
    description: 'An event name of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Definition id.' }) },
    resolve: (query, _root, { id }, context) => getDefinition(callerProject(context), id, query),
  }),
  customEventDefinitions: t.connection(
    {
      type: CustomEventDefinition,
      description: 'The event names of the project, newest first.',
      resolve: (_root, args, context, info) => listDefinitions(callerProject(context), args, rowsQuery(context, info)),
    },
    ...relayNames('CustomEventDefinition'),
  ),
}));

const CustomEventPropertyChange = builder.inputType('CustomEventPropertyChange', {
  description: 'Changes to a property; omitted fields are unchanged.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'The path of the property, such as `cart.total`.',
      ...atMost(MAX_PROPERTY_NAME_LENGTH),
    }),
    description: t.string({
      description: 'A description; up to 500 characters.',
      ...notNull(atMost(MAX_DESCRIPTION_LENGTH)),
    }),
    type: t.field({
      type: CustomEventPropertyType,
      description: 'The type that its values should have; null declares none.',
    }),
    defaultValue: t.field({
      type: 'JSON',
      description: 'The value to assume for events without the property, of one of its types; null for none.',
    }),
    remove: t.boolean({
      description:
        'True removes it from the schema. It returns with the next event that has it, unless the schema is locked.',
    }),
  }),
});

const UpdateCustomEventDefinitionInput = builder.inputType('UpdateCustomEventDefinitionInput', {
  description: 'The fields to change; omitted fields stay unchanged.',
  fields: (t) => ({
    description: t.string({
      description: 'A description; up to 500 characters.',
      ...notNull(atMost(MAX_DESCRIPTION_LENGTH)),
    }),
    locked: t.boolean({
      description: 'Whether events with other properties, or with values of other types, are rejected.',
      ...notNull(),
    }),
    properties: t.field({
      type: [CustomEventPropertyChange],
      description: 'Changes to properties.',
      ...notNull(jsonSchema({ maxItems: MAX_PROPERTIES })),
    }),
  }),
});

builder.mutationFields((t) => ({
  updateCustomEventDefinition: t.prismaField({
    type: CustomEventDefinition,
    description: 'Describes an event name and its properties, or locks its schema.',
    args: {
      id: t.arg.id({ required: true, description: 'Definition id.' }),
      input: t.arg({ type: UpdateCustomEventDefinitionInput, required: true, description: 'What to change.' }),
    },
    resolve: async (query, _root, { id, input }, context) => {
      await updateDefinition(callerProject(context), id, input);
      return getDefinition(callerProject(context), id, query);
    },
  }),
}));

removalMutation('deleteCustomEventDefinition', {
  description: 'Removes an event name from the schema. Its events stay, and it returns with the next one.',
  id: 'Definition id.',
  remove: (context, id) => deleteDefinition(callerProject(context), id),
});
