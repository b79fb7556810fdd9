import { DomainError } from './errors.ts';

/** What a key may do (spec: Authentication). */
export type KeyScope = 'full' | 'sending';

/** Who is calling: an API key, and the project it acts on in this request. */
export interface Caller {
  keyId: string;
  scope: KeyScope;
  /** The projects the key is authorized for; `all` includes those created later. */
  projects: 'all' | readonly string[];
  /**
   * The project of this request.
   * @throws DomainError `validation_error` or `forbidden` when the request does not name one that the key may act on.
   */
  readonly projectId: string;
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
