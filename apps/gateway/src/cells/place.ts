import type { IncomingMessage } from 'node:http';
import { answerOtherCell, authenticateUser, type Person } from '@postroom/auth';
import { isId, pool } from '@postroom/platform';
import { hashKey, isWellFormedKey, LOGO_PATH } from '@postroom/projects';
import { readTrackingToken } from '@postroom/tracking';
import { readToken } from '@postroom/unsubscribe';
import { FORM_ID, readConfirmToken } from '@postroom/forms';
import { DOWNLOADS_PATH } from '../downloads.ts';
import { findCell, type Vouched } from './peers.ts';

/** Where a request goes. */
export interface Place {
  cell: string;
  /** Who has signed in, for whom this cell vouches. */
  user?: Vouched;
}

/**
 * Things by which a request is of a project: SQL with the thing as `$1` that yields the project here. A key may have several projects,
 * and is only looked up if the request names none.
 */
const KINDS = {
  project: 'SELECT id FROM projects WHERE id = $1 UNION SELECT project_id FROM project_cells WHERE project_id = $1',
  key: `SELECT coalesce((SELECT min(project_id) FROM api_key_projects WHERE key_id = k.id HAVING count(*) = 1), '') AS id
    FROM api_keys k WHERE hash = $1 AND revoked_at IS NULL`,
  message: 'SELECT project_id AS id FROM messages WHERE id = $1',
  form: 'SELECT project_id AS id FROM forms WHERE id = $1',
  submission: 'SELECT project_id AS id FROM form_submissions WHERE id = $1',
  logo: 'SELECT project_id AS id FROM project_logos WHERE hash = $1 LIMIT 1',
} as const;
type Kind = keyof typeof KINDS;
const isKind = (kind: string): kind is Kind => Object.hasOwn(KINDS, kind);

/** Where a thing is according to this cell: undefined if it is not known here. */
interface Known {
  id: string;
  state: 'moving' | 'moved' | 'here' | null;
  cell: string | null;
}

async function lookUp(kind: Kind, name: string): Promise<Known | undefined> {
  const { rows } = await pool.query<Known>({
    name: `cells-${kind}`,
    text: `SELECT of.id, c.state, c.cell FROM (${KINDS[kind]}) AS of LEFT JOIN project_cells c ON c.project_id = of.id LIMIT 1`,
    values: [name],
  });
  return rows[0];
}

/** Whether this cell serves a thing itself. */
const isHere = async (kind: Kind, name: string): Promise<boolean> => {
  const known = await lookUp(kind, name);
  return known !== undefined && (known.state ?? 'here') === 'here';
};

/**
 * The cell that has the project of a request; undefined if it is this one, or none. While a project is being moved this cell answers. @throws
 * RetryLater if another cell has to be asked and does not answer.
 */
export async function placeOf(request: IncomingMessage, path: string): Promise<Place | undefined> {
  const thing = thingOf(request, path);
  if (thing === undefined) return undefined;
  const [kind, name] = thing;
  const known = await lookUp(kind, name);
  const cell =
    known === undefined ? await findCell(`${kind}/${name}`) : known.state === 'moved' ? known.cell : undefined;
  if (cell == null) return undefined;
  if (kind !== 'project' || request.headers.authorization !== undefined) return { cell };
  const user = await authenticateUser(request.headers, name);
  return user === null ? { cell } : { cell, user: { id: user.id, sessionId: user.sessionId } };
}

/** What tells the project of a request. */
function thingOf({ headers }: IncomingMessage, path: string): [Kind, string] | undefined {
  if (path.startsWith('/t/')) return message(readTrackingToken((path.split('/')[3] ?? '').split('.', 1)[0] ?? ''));
  if (path.startsWith(LOGO_PATH))
    return /^[0-9a-f]{64}$/.test(path.slice(LOGO_PATH.length)) ? ['logo', path.slice(LOGO_PATH.length)] : undefined;
  if (path.startsWith('/u/')) {
    const token = readToken(path.split('/')[2] ?? '');
    return token?.projectId === undefined ? message(token?.messageId) : ['project', token.projectId];
  }
  if (path.startsWith('/f/')) return formOfPath(path);
  const isApi = path === '/graphql' || path === '/graphql/stream' || path === '/v1' || path.startsWith('/v1/');
  if (path.startsWith(DOWNLOADS_PATH)) return project(path.slice(DOWNLOADS_PATH.length).split('/', 1)[0]);
  if (!isApi) return undefined;
  const named = project(/^\/v1\/projects\/([^/]+)/.exec(path)?.[1] ?? [headers['x-project-id']].flat()[0]);
  const [, key = ''] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  return named ?? (isWellFormedKey(key) ? ['key', hashKey(key)] : undefined);
}

/** `/f/{form id}` and `/f/confirm/{token}`. */
function formOfPath(path: string): [Kind, string] | undefined {
  const [, , first = '', token = ''] = path.split('/');
  if (first !== 'confirm') return isId(FORM_ID, first) ? ['form', first] : undefined;
  const submission = readConfirmToken(token);
  return submission === undefined ? undefined : ['submission', submission];
}

const message = (id: string | undefined): [Kind, string] | undefined =>
  id === undefined ? undefined : ['message', id];
const project = (id: string | undefined): [Kind, string] | undefined =>
  id !== undefined && isId('prj', id) ? ['project', id] : undefined;

/** What another cell asks for: `kind/name`. @returns undefined if this cell has nothing of it. */
export async function answerOf(what: string, person: Person | undefined): Promise<unknown> {
  const [kind = '', name = ''] = what.split('/', 2);
  if (!isKind(kind)) return answerOtherCell(kind, name, person);
  return (await isHere(kind, name)) ? {} : undefined;
}
