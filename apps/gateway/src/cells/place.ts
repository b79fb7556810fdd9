import type { IncomingMessage } from 'node:http';
import { answerOtherCell, authenticateUser } from '@postroom/auth';
import { BOUNCES_BY } from '@postroom/bounces';
import { isId } from '@postroom/platform';
import { hashKey, isWellFormedKey, LOGO_PATH } from '@postroom/projects';
import {
  cellOf,
  FACTS,
  factsFor,
  isServedHere,
  type UserProfile,
  PROJECTS_BY,
  type Vouched,
} from '@postroom/projects/cells';
import { readTrackingToken } from '@postroom/tracking';
import { authorizationId, CALLBACK_PATH, SES_PATH } from '@postroom/transports';
import { readToken } from '@postroom/unsubscribe';
import { FORM_ID, readConfirmToken } from '@postroom/forms';
import { DOWNLOADS_PATH } from '../downloads.ts';

/** Where a request goes. */
export interface Place {
  cell: string;
  /** Who has signed in, for whom this cell vouches. */
  user?: Vouched;
}

/** How requests and mail refer to a project, by kind. */
const KINDS = {
  ...PROJECTS_BY,
  ...BOUNCES_BY,
  form: 'SELECT project_id AS id FROM forms WHERE id = $1',
  submission: 'SELECT project_id AS id FROM form_submissions WHERE id = $1',
  logo: 'SELECT project_id AS id FROM project_logos WHERE hash = $1 LIMIT 1',
  provider: 'SELECT project_id AS id FROM mail_providers WHERE token = $1',
  authorization: `SELECT m.project_id AS id FROM mailbox_authorizations a JOIN mailbox_accounts m ON m.id = a.mailbox_id
    WHERE a.id = $1`,
} as const;
type Kind = keyof typeof KINDS;
const isKind = (kind: string): kind is Kind => Object.hasOwn(KINDS, kind);

/**
 * The cell that has the project of a request; undefined if it is this one, or none. While a project is being moved this cell answers. @throws
 * RetryLater if another cell has to be asked and does not answer.
 */
export async function placeOf(request: IncomingMessage, path: string): Promise<Place | undefined> {
  const reference = referenceOf(request, path);
  if (reference === undefined) return undefined;
  const [kind, name] = reference;
  const cell = await cellOf({ kind, name, sql: KINDS[kind] });
  if (cell === undefined) return undefined;
  const { headers } = request;
  const isOfUser = kind === 'project' ? headers.authorization === undefined : kind === 'authorization';
  const user = isOfUser ? await authenticateUser(headers, undefined, { isLink: kind === 'authorization' }) : null;
  return user === null ? { cell } : { cell, user: { id: user.id, sessionId: user.sessionId } };
}

/** What a request names that belongs to a project. */
function referenceOf({ headers, url = '' }: IncomingMessage, path: string): [Kind, string] | undefined {
  if (path.startsWith('/t/')) return message(readTrackingToken((path.split('/')[3] ?? '').split('.', 1)[0] ?? ''));
  if (path.startsWith(LOGO_PATH))
    return /^[0-9a-f]{64}$/.test(path.slice(LOGO_PATH.length)) ? ['logo', path.slice(LOGO_PATH.length)] : undefined;
  if (path.startsWith('/u/')) {
    const token = readToken(path.split('/')[2] ?? '');
    return token?.projectId === undefined ? message(token?.messageId) : ['project', token.projectId];
  }
  if (path.startsWith('/f/')) return formOfPath(path);
  if (path.startsWith(SES_PATH)) return provider(path.slice(SES_PATH.length));
  if (path === CALLBACK_PATH)
    return ['authorization', authorizationId(new URLSearchParams(url.split('?', 2)[1]).get('state') ?? '')];
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

const provider = (token: string): [Kind, string] | undefined =>
  /^[\w-]{1,100}$/.test(token) ? ['provider', token] : undefined;

/** What another cell asks for: `kind/name`. @returns undefined if this cell has nothing of it. */
export async function answerOf(what: string, person: UserProfile | undefined): Promise<unknown> {
  const [kind = '', name = ''] = what.split('/', 2);
  if (kind === FACTS) return factsFor(name);
  if (!isKind(kind)) return answerOtherCell(kind, name, person);
  return (await isServedHere({ kind, name, sql: KINDS[kind] })) ? {} : undefined;
}
