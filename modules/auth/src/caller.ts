import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, config, db, DomainError, type Permission, type Prisma } from '@postroom/platform';
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

  constructor(id: string, sessionId: string, roles: ReadonlyMap<string, Role>, named: string | undefined) {
    this.id = id;
    this.sessionId = sessionId;
    this.projects = [...roles.keys()];
    this.#roles = roles;
    this.#named = named === '' ? undefined : named;
  }

  get projectId(): string {
    const [only, second] = this.projects;
    if (this.#named !== undefined) {
      if (this.#roles.has(this.#named)) return this.#named;
      throw new DomainError('forbidden', 'You are not a member of that project.');
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

/**
 * The user signed in by the request's cookie; null if none. Queries the database each time, so a revoked session or
 * membership takes effect at once.
 * @throws DomainError `forbidden` for a cross-site request, which carries the cookie without the user's intent
 * (CSRF).
 */
export async function authenticateUser(
  headers: IncomingHttpHeaders,
  named: string | undefined,
): Promise<UserCaller | null> {
  if (headers.cookie === undefined || !headers.cookie.includes('postroom.')) return null;
  const session = await auth().api.getSession({ headers: fromNodeHeaders(headers) });
  if (session === null) return null;
  refuseOtherSites(headers);
  const members = await db.member.findMany({ where: { userId: session.user.id }, orderBy: { projectId: 'asc' } });
  return new UserCaller(
    session.user.id,
    session.session.id,
    new Map(members.map(({ projectId, role }) => [projectId, role])),
    named,
  );
}

function refuseOtherSites(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  const sameOrigin =
    headers.origin === undefined || headers.origin === config.PUBLIC_URL || headers.origin === `http://${headers.host}`;
  if (sameOrigin && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new DomainError('forbidden', 'This request came from another site.');
}
