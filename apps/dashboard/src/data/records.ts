import { graphql } from '../generated/gql.ts';
import type { FindRecordsQuery } from '../generated/graphql.ts';
import { useApiQuery } from './api-query.ts';
import type { Problem } from './problem.ts';

const FIND = graphql(`
  query FindRecords(
    $search: String
    $templateStatus: TemplateStatus
    $campaigns: Boolean!
    $forms: Boolean!
    $groups: Boolean!
    $journeys: Boolean!
    $segments: Boolean!
    $templates: Boolean!
  ) {
    campaigns(first: 50, search: $search) @include(if: $campaigns) {
      nodes {
        id
        name
      }
      pageInfo {
        hasNextPage
      }
    }
    forms(first: 50, search: $search) @include(if: $forms) {
      nodes {
        id
        name
      }
      pageInfo {
        hasNextPage
      }
    }
    groups(first: 50, search: $search) @include(if: $groups) {
      nodes {
        id
        name
      }
      pageInfo {
        hasNextPage
      }
    }
    journeys(first: 50, search: $search) @include(if: $journeys) {
      nodes {
        id
        name
      }
      pageInfo {
        hasNextPage
      }
    }
    archived: journeys(first: 50, search: $search, status: archived) @include(if: $journeys) {
      nodes {
        id
        name
        journeyStatus: status
      }
      pageInfo {
        hasNextPage
      }
    }
    segments(first: 50, search: $search) @include(if: $segments) {
      nodes {
        id
        name
      }
      pageInfo {
        hasNextPage
      }
    }
    templates(first: 50, search: $search, status: $templateStatus) @include(if: $templates) {
      nodes {
        id
        name
        templateStatus: status
        subject
      }
      pageInfo {
        hasNextPage
      }
    }
  }
`);

const NAMES = graphql(`
  query RecordNames($ids: [ID!]!) {
    nodes(ids: $ids) {
      id
      ... on Campaign {
        name
      }
      ... on Form {
        name
      }
      ... on Group {
        name
      }
      ... on Journey {
        name
        journeyStatus: status
      }
      ... on Segment {
        name
      }
      ... on Template {
        name
        templateStatus: status
      }
    }
  }
`);

/** What has a name by which it is found: the kinds, and what one of them is called. */
const KINDS = {
  campaigns: { prefix: 'cmp', one: 'campaign' },
  forms: { prefix: 'frm', one: 'form' },
  groups: { prefix: 'grp', one: 'group' },
  journeys: { prefix: 'jrn', one: 'journey' },
  segments: { prefix: 'seg', one: 'segment' },
  templates: { prefix: 'tpl', one: 'template' },
} as const;

export type RecordKind = keyof typeof KINDS;

/** A record by its name. */
export interface NamedRecord {
  id: string;
  name: string;
  /** Of a template. */
  subject?: string | null;
}

interface Row extends NamedRecord {
  journeyStatus?: string;
  templateStatus?: string;
}

const named = ({ id, name, subject, journeyStatus, templateStatus }: Row): NamedRecord => ({
  id,
  name: journeyStatus === 'archived' ? `${name} (archived)` : templateStatus === 'draft' ? `${name} (draft)` : name,
  ...(subject === undefined ? {} : { subject }),
});

export interface FoundRecords {
  /** In the order of the kinds, the newest of each first. */
  found: { kind: RecordKind; rows: NamedRecord[] }[] | undefined;
  /** Whether there are more than those. */
  hasMore: boolean;
  problem: Problem | undefined;
}

/** The newest records of some kinds whose names contain a text; all that begin a list if it is empty. */
export function useFoundRecords(
  kinds: readonly RecordKind[],
  search: string,
  {
    pause,
    published = false,
  }: { pause: boolean; /** No templates that are drafts. */ published?: boolean | undefined },
): FoundRecords {
  const asked = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, kinds.includes(kind as RecordKind)]));
  const variables = {
    ...(asked as Record<RecordKind, boolean>),
    search: search === '' ? null : search,
    templateStatus: published ? ('published' as const) : null,
  };
  const { data, problem } = useApiQuery(FIND, variables, { pause });
  const lists = (kind: RecordKind) =>
    [data?.[kind], kind === 'journeys' ? data?.archived : undefined].filter(
      (list): list is Exclude<FindRecordsQuery[RecordKind], undefined> => list !== undefined,
    );
  return {
    found: data && kinds.map((kind) => ({ kind, rows: lists(kind).flatMap(({ nodes }) => nodes.map(named)) })),
    hasMore: kinds.some((kind) => lists(kind).some(({ pageInfo }) => pageInfo.hasNextPage)),
    problem,
  };
}

/** The most ids that a request for nodes takes. */
const MAX_NODES = 100;

const deleted = (id: string): string =>
  `Deleted ${Object.values(KINDS).find(({ prefix }) => id.startsWith(`${prefix}_`))?.one ?? 'object'}`;

/** The names of up to 200 records by id, also of deleted ones; undefined until they are loaded. */
export function useRecordNames(ids: readonly string[]): ReadonlyMap<string, string> | undefined {
  const wanted = [...new Set(ids)].toSorted();
  const rest = wanted.slice(MAX_NODES, 2 * MAX_NODES);
  const first = useApiQuery(NAMES, { ids: wanted.slice(0, MAX_NODES) }, { pause: wanted.length === 0 });
  const second = useApiQuery(NAMES, { ids: rest }, { pause: rest.length === 0 });
  const asked = [...(wanted.length === 0 ? [] : [first]), ...(rest.length === 0 ? [] : [second])];
  if (asked.some(({ data, problem }) => data === undefined && problem === undefined)) return undefined;
  const nodes = asked.flatMap(({ data }) => data?.nodes ?? []);
  const rows = nodes.flatMap((node) => (node !== null && 'name' in node ? [named(node)] : []));
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  // Without an answer, ids are better than an empty field.
  const isAnswered = asked.every(({ data }) => data !== undefined);
  return new Map(wanted.map((id) => [id, names.get(id) ?? (isAnswered ? deleted(id) : id)]));
}
