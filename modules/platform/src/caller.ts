import { DomainError } from '@postroom/errors';
import type { KeyClaim } from './idempotency-keys.ts';

/** The scope of an API key (spec: Authentication). */
export type KeyScope = 'full' | 'sending';

/**
 * What a caller may do in a project: `sending` sends transactional mail, `read` and `write` are the rest of what `/v1` can
 * do, `manage` is reserved to the dashboard by the specification (keys, domains, secrets), and `own` to owners.
 */
export type Permission = 'sending' | 'read' | 'write' | 'manage' | 'own';

/** The roles that have a permission which members lack. */
const HOLDERS: Partial<Record<Permission, string>> = { manage: 'admins and owners', own: 'owners' };

/** The authenticated caller and the project of this request. */
export interface Caller {
  /** `key_…` or `usr_…`. */
  id: string;
  kind: 'key' | 'person';
  /** The projects it may act on; `all` includes those created later. */
  projects: 'all' | readonly string[];
  /**
   * The project of this request.
   * @throws DomainError `validation_error` or `forbidden` when the request does not name one that the caller may act on.
   */
  readonly projectId: string;
  /** Whether it may, in the project of this request or in the one named. */
  may: (permission: Permission, projectId?: string) => boolean;
}

/** The context that resolvers receive. */
export interface Context {
  /** `null` when the request carried no key; only introspection is open then. */
  caller: Caller | null;
  requestId: string;
  /** The `Idempotency-Key` of the request, if its route stores the response together with its work. */
  claim?: KeyClaim;
}

/** The project of the request; every rule takes it as its first argument. */
export function callerProject(context: Context): string {
  return authenticated(context).projectId;
}

/** The caller. @throws DomainError `unauthorized` if the request carried no credentials. */
export function authenticated(context: Context): Caller {
  if (context.caller === null) throw new DomainError('unauthorized', 'Send an API key: Authorization: Bearer pr_…');
  return context.caller;
}

/**
 * Why a permission was refused.
 * @returns DomainError `insufficient_scope` for a sending key, `forbidden` for a person who is not a member or
 * whose role is not enough, and for any key where only people may act.
 */
export function refusal({ caller }: Pick<Context, 'caller'>, permission: Permission): DomainError {
  if (caller?.kind === 'key' && !caller.may('read'))
    return new DomainError('insufficient_scope', 'This API key can only send email. Use a full-scope key.');
  if (caller?.kind === 'key')
    return new DomainError('forbidden', 'An API key cannot do this. Sign in to the dashboard instead.');
  if (caller !== null && !caller.may('read'))
    return new DomainError('forbidden', 'You are not a member of this project.');
  const who = HOLDERS[permission] ?? 'members, admins and owners';
  return new DomainError('forbidden', `Only ${who} of this project may do this.`);
}
