import {
  type DataReply,
  type DeletedReply,
  DomainError,
  type SelectionPath,
  type Reply,
  type ReplyShape,
} from '@postroom/platform';
import { renameFieldsInMessage } from './names.ts';

/** The data selected by a route's document, which is validated at startup. */
// oxlint-disable-next-line typescript/no-explicit-any
type Selected = any;

export type Replier = (data: Selected) => Reply;

/** Builds the function that turns the selected data into a route's declared response. */
export function replier(reply: ReplyShape): Replier {
  if (reply.kind === 'data') return dataReplier(reply);
  return reply.kind === 'page' ? pageReplier(reply.connection) : deletedReplier(reply);
}

function dataReplier(reply: DataReply): Replier {
  const { status, createdIf, merged, beside, problems = {}, omitNull = [] } = reply;
  const isCreated = createdIf === undefined ? undefined : reader(createdIf);
  const read = typeof reply.data === 'string' ? reader(reply.data) : membersReader(reply.data);
  const more = merged && membersReader(merged);
  const others = beside && membersReader(beside);
  const changes = [
    ...Object.entries(problems).map(([path, rename]) => problemRenamer(path.split('.'), rename)),
    ...omitNull.map(nullOmitter),
  ];
  return (selected) => {
    const data = read(selected);
    for (const change of changes) change(data);
    return {
      status: isCreated?.(selected) === true ? 201 : status,
      body: { data: more === undefined ? data : { ...data, ...more(selected) }, ...others?.(selected) },
    };
  };
}

function pageReplier(connection: SelectionPath): Replier {
  const read = reader(connection);
  return (selected) => {
    const { nodes, pageInfo, totalCount } = read(selected);
    return {
      status: 200,
      body: {
        data: nodes,
        has_more: pageInfo.hasNextPage,
        next_cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null,
        ...(totalCount === undefined ? {} : { total: totalCount }),
      },
    };
  };
}

function deletedReplier({ unless }: DeletedReply): Replier {
  const count = unless === undefined ? undefined : reader(unless.count);
  return (selected) => {
    if (unless !== undefined && count?.(selected) === 0) throw new DomainError('not_found', unless.message);
    return { status: 200, body: { deleted: true } };
  };
}

function reader(path: SelectionPath): (selected: Selected) => Selected {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) return (selected) => selected[first];
  const inner = reader(rest.join('.'));
  return (selected) => inner(selected[first]);
}

function membersReader(members: Record<string, SelectionPath | { constant: string }>): (selected: Selected) => object {
  const readers = Object.entries(members).map(([name, member]) => ({
    name,
    read: typeof member === 'string' ? reader(member) : () => member.constant,
  }));
  return (selected) => Object.fromEntries(readers.map(({ name, read }) => [name, read(selected)]));
}

/** Renames the fields of the problems at a path, in place: the data was made for this response alone. */
function problemRenamer([first, ...rest]: string[], rename: (field: string) => string): (data: Selected) => void {
  const inner = first === undefined ? undefined : problemRenamer(rest, rename);
  return (data) => {
    for (const row of [data].flat()) {
      if (row == null) continue;
      if (inner !== undefined) inner(row[first as string]);
      else {
        if (row.field != null) row.field = rename(row.field);
        row.message = renameFieldsInMessage(row.message);
      }
    }
  };
}

/** Members that are `undefined` are not written to JSON. */
const nullOmitter = (name: string) => (data: Selected) => {
  for (const row of [data].flat()) if (row[name] === null) row[name] = undefined;
};
