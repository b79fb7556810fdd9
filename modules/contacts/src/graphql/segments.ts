import { EDITED_BY } from '@postroom/projects';
import {
  NAME_PART,
  assertValid,
  atMost,
  authenticated,
  batchLoader,
  batchLoaders,
  builder,
  callerProject,
  type Context,
  type FieldProblem,
  invalid,
  JSON_OBJECT,
  jsonSchema,
  MAX_NAME_LENGTH,
  NAME,
  Node,
  notNull,
  readLimited,
  readPage,
  registerNode,
  relayNames,
  removalMutation,
} from '@postroom/platform';
import type { SegmentFilter } from '@postroom/segment-filters';
import { type FilterPage, newestOfFilters, previewSegment } from '../contact-list.ts';
import { Contact } from './contacts.ts';
import type { Contact as ContactRow } from '../contacts.ts';
import {
  countSegments,
  createSegment,
  deleteSegment,
  findSegments,
  getSegment,
  listSegments,
  problemsOfFilters,
  updateSegment,
} from '../segments.ts';
import { type SegmentSize as Size, SIZES_KEPT_DAYS, sizesOf } from '../segment-sizes.ts';

const FILTER = 'A condition `{field, op, value}`, or filters combined by `and`, `or`, `not`; see the page on segments.';
const FILTER_OBJECT = jsonSchema({ type: 'object', minProperties: 1 });

/** Keyed by the filter as JSON: the segments of a list are counted in one statement, besides those that the cache may have. */
const loadCount = batchLoader(async (context: Context, keys) => {
  const filters = keys.map((key) => JSON.parse(key) as SegmentFilter);
  const counts = await countSegments(callerProject(context), filters);
  return new Map(keys.map((key, at) => [key, counts[at] ?? 0]));
});

/** Keyed by the filter as JSON. Call it after contacts were read by the filter: what exists then existed during the read. */
const loadProblems = batchLoader(async (context: Context, keys) => {
  const filters = keys.map((key) => JSON.parse(key) as SegmentFilter);
  const problems = await problemsOfFilters(callerProject(context), filters);
  return new Map(keys.map((key, at) => [key, problems[at] ?? []]));
});
const problemsOf = async (context: Context, filter: unknown) =>
  (await loadProblems(context, JSON.stringify(filter))) ?? [];

/** Contacts that are read in one statement, over all pages. */
const ROWS_AT_ONCE = 1_010;

/** Keyed by filter and page as JSON: the contact pages of the segments of a list share statements. */
const loadPage = batchLoader(async (context: Context, keys) => {
  const pages = keys.map((key) => JSON.parse(key) as FilterPage);
  const rows: ContactRow[][] = [];
  while (rows.length < pages.length) {
    let left = ROWS_AT_ONCE;
    const part = pages.slice(rows.length).filter(({ limit }) => (left -= limit) >= 0);
    rows.push(...(await readLimited(() => newestOfFilters(callerProject(context), part))));
  }
  return new Map(keys.map((key, at) => [key, rows[at] ?? []]));
});

const Problem = builder.objectRef<FieldProblem>('SegmentProblem').implement({
  description: 'Why the contacts of a segment are unknown.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Always `filter`.' }),
    message: t.exposeString('message', {
      description: 'What was deleted, such as `has a condition on the group grp_…, which was deleted`.',
    }),
  }),
});

const SegmentSize = builder.objectRef<Size>('SegmentSize').implement({
  description: 'How many contacts a segment had on a day.',
  fields: (t) => ({
    day: t.exposeString('day', { description: 'The day in UTC, YYYY-MM-DD.', ...atMost(10) }),
    size: t.exposeInt('size', { description: 'How many contacts matched when they were counted on that day.' }),
  }),
});

/** By number of days. */
const sizeLoader = batchLoaders((days: number, context: Context, ids) => sizesOf(callerProject(context), ids, days));

const Segment = builder.prismaObject('Segment', {
  description: 'A saved filter over contacts. Its members are the contacts that match now.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Segment id.' }),
    name: t.exposeString('name', { description: 'Unique within the project.', ...atMost(MAX_NAME_LENGTH) }),
    filter: t.expose('filter', { type: 'JSON', description: FILTER, ...JSON_OBJECT }),
    contactCount: t.int({
      description:
        'How many contacts match now; 0 if the segment has `problems`. With conditions on email or events, the count of a large project may be up to five minutes old.',
      complexity: 100,
      resolve: async ({ filter }, _args, context) => {
        const count = await loadCount(context, JSON.stringify(filter));
        return (await problemsOf(context, filter)).length > 0 ? 0 : (count ?? 0);
      },
    }),
    problems: t.field({
      type: [Problem],
      description:
        'What the filter names but was deleted, such as a group. If there is any, the segment has no contacts until the filter is changed, as nobody can tell which ones it selects.',
      resolve: ({ filter }, _args, context) => problemsOf(context, filter),
    }),
    sizes: t.field({
      type: [SegmentSize],
      description:
        'Its recorded size on each of the last days, oldest first. Days before it was created, or on which it had `problems`, are missing.',
      complexity: 20,
      args: {
        days: t.arg.int({
          defaultValue: 90,
          description: `Number of days, 1 to ${SIZES_KEPT_DAYS}.`,
          ...jsonSchema({ minimum: 1, maximum: SIZES_KEPT_DAYS }),
        }),
      },
      resolve: async ({ id }, { days }, context) => {
        const last = days ?? 90;
        if (last < 1 || last > SIZES_KEPT_DAYS)
          throw invalid({ field: 'days', message: `must be between 1 and ${SIZES_KEPT_DAYS}` });
        return (await sizeLoader(last)(context, id)) ?? [];
      },
    }),
    contacts: t.connection(
      {
        type: Contact,
        description: 'The contacts that match now, newest first; `validation_error` if the segment has `problems`.',
        resolve: async ({ filter }, args, context) => {
          const page = await readPage(
            'ctc',
            args,
            async (part) => (await loadPage(context, JSON.stringify({ filter, ...part }))) ?? [],
            async (limit) => Math.min(limit, (await loadCount(context, JSON.stringify(filter))) ?? 0),
          );
          assertValid(await problemsOf(context, filter));
          return page;
        },
      },
      ...relayNames('SegmentContact'),
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was saved.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its name or filter last changed.' }),
    version: t.exposeInt('version', {
      description: 'Incremented by each edit; updates may pass the version they are based on.',
    }),
    editedById: t.exposeID('editedById', EDITED_BY.id),
    editedByName: t.string(EDITED_BY.name),
  }),
});

registerNode('seg', 'Segment', (context, ids) => findSegments(callerProject(context), ids), 'read', {
  select: `SELECT id, name, filter FROM segments WHERE id = ANY ($1::text[]) AND project_id = $2`,
});

const SegmentPreview = builder.objectRef<{ count: number; contacts: ContactRow[] }>('SegmentPreview').implement({
  description: 'The contacts that a filter matches, without saving it.',
  fields: (t) => ({
    contactCount: t.exposeInt('count', { description: 'How many contacts match now.' }),
    contacts: t.field({
      type: [Contact],
      description: 'The ten newest matching contacts.',
      resolve: ({ contacts }) => contacts,
    }),
  }),
});

builder.queryFields((t) => ({
  segment: t.field({
    type: Segment,
    description: 'A segment of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Segment id.' }) },
    resolve: (_root, { id }, context) => getSegment(callerProject(context), id),
  }),
  segments: t.connection(
    {
      type: Segment,
      description: "The project's segments, newest first.",
      args: { search: t.arg.string(NAME_PART) },
      resolve: (_root, args, context) => listSegments(callerProject(context), args),
    },
    ...relayNames('Segment'),
  ),
  segmentPreview: t.field({
    type: SegmentPreview,
    description:
      'Tries a filter without saving it. It counts over all contacts, so one operation may contain at most eight of them.',
    complexity: 6_000,
    args: { filter: t.arg({ type: 'JSON', required: true, description: FILTER, ...FILTER_OBJECT }) },
    resolve: (_root, { filter }, context) => previewSegment(callerProject(context), filter),
  }),
}));

const CreateSegmentInput = builder.inputType('CreateSegmentInput', {
  description: 'A new segment.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Unique within the project; 1 to 200 characters.', ...NAME }),
    filter: t.field({ type: 'JSON', required: true, description: FILTER, ...FILTER_OBJECT }),
  }),
});

const UpdateSegmentInput = builder.inputType('UpdateSegmentInput', {
  description: 'The fields to change; omitted fields stay unchanged.',
  fields: (t) => ({
    name: t.string({ description: 'A new name, unique within the project.', ...notNull(NAME) }),
    filter: t.field({ type: 'JSON', description: 'Replaces the filter.', ...notNull(FILTER_OBJECT) }),
    version: t.int({
      description: 'The version this edit is based on; `conflict` if the segment was modified since.',
    }),
  }),
});

builder.mutationFields((t) => ({
  createSegment: t.field({
    type: Segment,
    description: 'Saves a filter under a name. `conflict` when the name is taken.',
    args: { input: t.arg({ type: CreateSegmentInput, required: true, description: 'The segment.' }) },
    resolve: (_root, { input }, context) => createSegment(callerProject(context), authenticated(context).id, input),
  }),
  updateSegment: t.field({
    type: Segment,
    description: 'Renames a segment or replaces its filter.',
    args: {
      id: t.arg.id({ required: true, description: 'Segment id.' }),
      input: t.arg({ type: UpdateSegmentInput, required: true, description: 'What to change.' }),
    },
    resolve: (_root, { id, input }, context) =>
      updateSegment(callerProject(context), authenticated(context).id, id, input),
  }),
}));

removalMutation('segmentDelete', {
  replaces: 'deleteSegment',
  description: 'Deletes a segment and keeps its contacts.',
  id: 'Segment id.',
  remove: (context, id) => deleteSegment(callerProject(context), id),
});
