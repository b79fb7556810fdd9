import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, DomainError, listen, logger, type Permission } from '@postroom/platform';
import { identify, projectOf } from '../identify.ts';

/** The topic of notifications that somebody may do less than before; the caller's id follows, or `*` for all. */
const CHANGED = 'access';
/** Rights end by themselves, too: everybody is looked at again after so long, in milliseconds. */
const LOOK_EVERY_MS = 60_000;
const PERMISSIONS: readonly Permission[] = ['sending', 'read', 'write', 'manage', 'own'];

/** Something that goes on for as long as its caller may do what they could when it began. */
interface Guarded {
  headers: IncomingHttpHeaders;
  caller: Caller;
  end: (why: DomainError) => void;
}

/** Ends what goes on under rights that are taken away, here or at another gateway, as soon as that is committed. */
export interface Access {
  /** Who calls. @throws DomainError `unauthorized` for nobody, or as `identify`. */
  enter: (headers: IncomingHttpHeaders) => Promise<Entered>;
  stop: () => Promise<void>;
}

export interface Entered {
  caller: Caller;
  /** Calls `end` once, should the caller lose a right; returns what calls that off. */
  guard: (end: (why: DomainError) => void) => () => void;
}

export function watchAccess(): Access {
  const guarded = new Set<Guarded>();
  let changes = 0;
  const listening = new Once(() =>
    listen(CHANGED, (payload) => {
      changes++;
      // An empty payload says that some may have been missed.
      const whose = payload.slice(CHANGED.length + 1);
      lookAt([...guarded].filter(({ caller }) => payload === '' || whose === '*' || whose === caller.id));
    }),
  );
  const timer = setInterval(() => lookAt([...guarded]), LOOK_EVERY_MS).unref();

  function lookAt(some: readonly Guarded[]): void {
    for (const one of some) {
      lostRight(one).then(
        (why) => {
          if (why !== undefined && guarded.delete(one)) one.end(why);
        },
        (error: unknown) => logger.warn({ err: error }, 'could not look at the rights behind a stream just now'),
      );
    }
  }

  return {
    enter: async (headers) => {
      await listening.result();
      const before = changes;
      const caller = await identify(headers);
      if (caller === null) throw new DomainError('unauthorized', 'Give an API key, or sign in.');
      return {
        caller,
        guard: (end) => {
          const one: Guarded = { headers, caller, end };
          guarded.add(one);
          // What was taken away since the caller was looked up was told to nobody yet.
          if (changes !== before) lookAt([one]);
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

/** Why what was begun may not go on; `undefined` when the caller may still do all that they could. */
async function lostRight({ headers, caller }: Guarded): Promise<DomainError | undefined> {
  const project = projectOf(caller);
  try {
    const now = await identify(headers, project);
    if (now === null) return new DomainError('unauthorized', 'You have been signed out.');
    if (project !== undefined && now.projectId !== project) return new DomainError('forbidden', 'The project is gone.');
    const lost = PERMISSIONS.find((permission) => caller.may(permission, project) && !now.may(permission, project));
    return lost === undefined
      ? undefined
      : new DomainError('forbidden', `You may do less in this project than when this began (${lost}). Begin again.`);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

/** Something that is begun when it is first needed, and again after it failed. */
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
