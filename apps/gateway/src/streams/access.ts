import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, DomainError, listen, logger, type Permission } from '@postroom/platform';
import { identify, projectOf } from '../identify.ts';

/** The topic for notifications that a caller lost rights; followed by the caller's id, or `*` for all. */
const CHANGED = 'access';
/** Rights also expire, so all callers are rechecked at this interval, in milliseconds. */
const RECHECK_INTERVAL_MS = 60_000;
const PERMISSIONS: readonly Permission[] = ['sending', 'read', 'write', 'manage', 'own'];

/** A long-running operation that requires its caller to keep the rights they had when it started. */
interface Guarded {
  headers: IncomingHttpHeaders;
  caller: Caller;
  end: (why: DomainError) => void;
}

/** Ends operations whose caller loses rights, on this gateway or another one, as soon as that is committed. */
export interface Access {
  /** Identifies the caller. @throws DomainError `unauthorized` without credentials, or as `identify`. */
  enter: (headers: IncomingHttpHeaders) => Promise<Entered>;
  stop: () => Promise<void>;
}

export interface Entered {
  caller: Caller;
  /** Calls `end` once if the caller loses a right; returns a function that stops watching. */
  guard: (end: (why: DomainError) => void) => () => void;
}

export function watchAccess(): Access {
  const guarded = new Set<Guarded>();
  let changes = 0;
  const listening = new Once(() =>
    listen(CHANGED, (payload) => {
      changes++;
      // An empty payload means that notifications may have been missed.
      const whose = payload.slice(CHANGED.length + 1);
      recheck([...guarded].filter(({ caller }) => payload === '' || whose === '*' || whose === caller.id));
    }),
  );
  const timer = setInterval(() => recheck([...guarded]), RECHECK_INTERVAL_MS).unref();

  function recheck(some: readonly Guarded[]): void {
    for (const one of some) {
      lostRight(one).then(
        (why) => {
          if (why !== undefined && guarded.delete(one)) one.end(why);
        },
        (error: unknown) => logger.warn({ err: error }, 'could not check the rights behind a stream'),
      );
    }
  }

  return {
    enter: async (headers) => {
      await listening.result();
      const before = changes;
      const caller = await identify(headers);
      if (caller === null) throw new DomainError('unauthorized', 'Send an API key or sign in.');
      return {
        caller,
        guard: (end) => {
          const one: Guarded = { headers, caller, end };
          guarded.add(one);
          // Rights may have been revoked between identifying the caller and subscribing to changes.
          if (changes !== before) recheck([one]);
          return () => void guarded.delete(one);
        },
      };
    },
    stop: async () => {
      clearInterval(timer);
      await (
        await listening.begun?.catch(() => undefined)
      )?.();
    },
  };
}

/** The right that was lost, as an error; `undefined` if the caller still has all of them. */
async function lostRight({ headers, caller }: Guarded): Promise<DomainError | undefined> {
  const project = projectOf(caller);
  try {
    const now = await identify(headers, project);
    if (now === null) return new DomainError('unauthorized', 'Your session has ended.');
    if (project !== undefined && now.projectId !== project)
      return new DomainError('forbidden', 'The project no longer exists.');
    const lost = PERMISSIONS.find((permission) => caller.may(permission, project) && !now.may(permission, project));
    return lost === undefined
      ? undefined
      : new DomainError('forbidden', `Your rights in this project were reduced (${lost}). Reconnect.`);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

/** A lazily started resource; starts again after a failure. */
class Once<T> {
  begun: Promise<T> | undefined;
  readonly #begin: () => Promise<T>;

  constructor(begin: () => Promise<T>) {
    this.#begin = begin;
  }

  async result(): Promise<T> {
    this.begun ??= this.#begin();
    try {
      return await this.begun;
    } catch (error) {
      this.begun = undefined;
      throw error;
    }
  }
}
