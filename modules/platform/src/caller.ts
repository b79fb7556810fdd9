import { DomainError } from './errors.ts';

/** What a key may do (spec: Authentication). */
export type KeyScope = 'full' | 'sending';

/**
 * What a caller may do in a project: `sending` sends transactional mail, `read` and `write` are the rest of what `/v1` can
 * do, `manage` is what the specification keeps to the dashboard (keys, domains, secrets), `own` what only owners may.
 */
export type Permission = 'sending' | 'read' | 'write' | 'manage' | 'own';

/** Who is calling, and the project it acts on in this request. */
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

/** What resolvers are given. */
export interface Context {
  /** `null` when the request carried no key; only introspection is open then. */
  caller: Caller | null;
  requestId: string;
}

/** The project that the request acts on; every rule takes it first. */
export function callerProject(context: Context): string {
  return authenticated(context).projectId;
}

/** The caller, or `unauthorized` when the request carried no key. */
export function authenticated(context: Context): Caller {
  if (context.caller === null) throw new DomainError('unauthorized', 'Give an API key: Authorization: Bearer pr_…');
  return context.caller;
}

/**
 * Why a permission was refused.
 * @returns DomainError `insufficient_scope` for a sending key, `forbidden` for a person whose role is not enough, and for
 * any key where only people may act.
 */
export function refusal({ caller }: Context, permission: Permission): DomainError {
  if (caller?.kind === 'key' && !caller.may('read')) {
    return new DomainError('insufficient_scope', 'A sending key may only send: this needs a full-scope key.');
  }
  if (caller?.kind === 'key')
    return new DomainError('forbidden', 'Only people who are signed in may do this, never an API key.');
  return new DomainError('forbidden', `Your role in this project does not let you do this (${permission}).`);
}
