import type { IncomingHttpHeaders } from 'node:http';
import {
  type Caller,
  config,
  DomainError,
  type Permission,
  pool,
  type Prisma,
  projectMoving,
} from '@postroom/platform';
import { isDeleted, isHere } from '@postroom/projects/sql';
import { fromNodeHeaders } from 'better-auth/node';
import { auth } from './auth.ts';

export type Role = Prisma.MemberModel['role'];

/** The permissions of each role in its project. */
export const PERMISSIONS: Record<Role, readonly Permission[]> = {
  owner: ['sending', 'read', 'write', 'manage', 'own'],
  admin: ['sending', 'read', 'write', 'manage'],
  member: ['sending', 'read', 'write'],
  viewer: ['read'],
};

/** A signed-in user, in the project of the request. */
export class UserCaller implements Caller {
  readonly kind = 'person';
  readonly id: string;
  readonly sessionId: string;
  readonly projects: readonly string[];
  readonly #roles: ReadonlyMap<string, Role>;
  readonly #named: string | undefined;
  readonly #away: ReadonlySet<string>;

  /** @param away the projects that are being moved to another cell, or were. */
  constructor(
    id: string,
    sessionId: string,
    roles: ReadonlyMap<string, Role>,
    named: string | undefined,
    away: ReadonlySet<string>,
  ) {
    this.id = id;
    this.sessionId = sessionId;
    this.projects = [...roles.keys()];
    this.#roles = roles;
    this.#away = away;
    this.#named = named === '' ? undefined : named;
  }

  get projectId(): string {
    const id = this.#projectId();
    if (this.#away.has(id)) throw projectMoving();
    return id;
  }

  #projectId(): string {
    const [only, second] = this.projects;
    if (this.#named !== undefined) {
      if (this.#roles.has(this.#named)) return this.#named;
      throw new DomainError('forbidden', `You are not a member of the project "${this.#named.slice(0, 40)}".`);
    }
    if (only === undefined) throw new DomainError('forbidden', 'You are not a member of any project.');
    if (second === undefined) return only;
    throw new DomainError(
      'validation_error',
      'You are a member of several projects: name one in the X-Project-Id header.',
      [{ field: 'X-Project-Id', message: 'is required' }],
    );
  }

  may(permission: Permission, projectId = this.#named ?? this.projects[0] ?? ''): boolean {
    const role = this.#roles.get(projectId);
    return role !== undefined && PERMISSIONS[role].includes(permission);
  }
}

/** Users that another cell has authenticated, by the headers object of their request, which no client can forge. */
const vouched = new WeakMap<IncomingHttpHeaders, { id: string; sessionId: string }>();

/** Another cell has authenticated the user of a request, and forwarded it. What the user may do is decided here. */
export function vouchFor(headers: IncomingHttpHeaders, user: { id: string; sessionId: string }): void {
  vouched.set(headers, user);
}

/**
 * The user signed in by the request's cookie; null if none. Queries the database each time, so a revoked session or
 * membership takes effect at once. With `isLink`, another site may link to the page, whose parameters prove the intent.
 * @throws DomainError `forbidden` for a cross-site request, which carries the cookie without the user's intent
 * (CSRF).
 */
export async function authenticateUser(
  headers: IncomingHttpHeaders,
  named: string | undefined,
  { isLink = false } = {},
): Promise<UserCaller | null> {
  const user = vouched.get(headers);
  if (user !== undefined) return userCaller(user.id, user.sessionId, named);
  if (headers.cookie === undefined || !headers.cookie.includes('postroom.')) return null;
  const session = await auth().api.getSession({ headers: fromNodeHeaders(headers) });
  if (session === null) return null;
  if (!isLink) refuseOtherSites(headers);
  return userCaller(session.user.id, session.session.id, named);
}

/** Members lose a project when its deletion begins. */
const MEMBERSHIPS = `
  SELECT project_id AS id, role, NOT ${isHere('m.project_id')} AS away FROM members m
  WHERE user_id = $1 AND NOT ${isDeleted('m.project_id')} ORDER BY project_id`;

async function userCaller(id: string, sessionId: string, named: string | undefined): Promise<UserCaller> {
  const { rows } = await pool.query<{ id: string; role: Role; away: boolean }>({
    name: 'auth-memberships',
    text: MEMBERSHIPS,
    values: [id],
  });
  return new UserCaller(
    id,
    sessionId,
    new Map(rows.map((row) => [row.id, row.role])),
    named,
    new Set(rows.filter(({ away }) => away).map((row) => row.id)),
  );
}

function refuseOtherSites(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  const sameOrigin =
    headers.origin === undefined || headers.origin === config.PUBLIC_URL || headers.origin === `http://${headers.host}`;
  if (sameOrigin && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new DomainError('forbidden', 'This request came from another site.');
}
