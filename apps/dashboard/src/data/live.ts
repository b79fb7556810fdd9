import type { TypedDocumentNode } from '@urql/core';
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { textOf } from './document.ts';
import { refresh } from './refresh.ts';

/** The state of live updates; `off` if the page has no subscriptions. */
export type LiveState = 'off' | 'live' | 'connecting' | 'offline';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** A stream open this long counts as healthy, even without events. */
const SETTLED_MS = 700;
/** A stream that is silent for this long is dead: the server sends a comment every twelve seconds. In ms. */
const SILENCE_MS = 30_000;
/** The minimum interval between refetches. */
const REFRESH_EVERY_MS = 1000;

let projectId = '';

/** Sets the project to subscribe to; the app shell calls it on each switch. */
export function setLiveProject(id: string): void {
  projectId = id;
}

/**
 * Subscribes while the component is mounted. Events missed while disconnected are not replayed, so the page refetches
 * whenever the stream opens and after each event. Nothing is lost and order does not matter.
 */
export function useLive<Data, Variables extends Record<string, unknown>>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { pause: off = false, onEvent }: { pause?: boolean; onEvent?: (data: Data) => void } = {},
): void {
  const key = JSON.stringify(variables);
  const tellEvent = useEffectEvent((data: Data) => onEvent?.(data));
  useEffect(() => {
    if (off) return undefined;
    const mark = newMark();
    return whileVisible(() =>
      run(textOf(document), JSON.parse(key) as Variables, {
        onEvent: (data) => {
          tellEvent(data as Data);
          refreshSoon();
        },
        onOpen: refreshSoon,
        onError: refreshSoon,
        mark,
      }),
    );
  }, [document, key, off]);
}

/** How long a subscription of the app shell leaves the connection to the first page, in ms. */
const SHELL_WAIT_MS = 1000;

/**
 * Subscribes for a part of the app shell, while it is mounted. Each event is the whole state, so the page is not
 * refetched, and the indicator in the header, which is about the page, ignores the stream.
 */
export function useLiveValue<Data>(
  document: TypedDocumentNode<Data, Record<string, never>>,
  onEvent: (data: Data) => void,
  { pause: off }: { pause: boolean },
): void {
  const tellEvent = useEffectEvent(onEvent);
  useEffect(() => {
    if (off) return undefined;
    let stop = () => {};
    const listener = {
      onEvent: (data: unknown) => tellEvent(data as Data),
      onOpen: () => {},
      onError: () => {},
      mark: () => {},
    };
    const starting = setTimeout(() => {
      stop = whileVisible(() => run(textOf(document), {}, listener));
    }, SHELL_WAIT_MS);
    return () => {
      clearTimeout(starting);
      stop();
    };
  }, [document, off]);
}

interface Listener {
  onEvent: (data: unknown) => void;
  /** Called when the stream has opened. */
  onOpen: () => void;
  /** Called when the server ends the stream with an error. */
  onError: () => void;
  /** Receives the state of the stream. */
  mark: (state: LiveState) => void;
}

/** Browsers allow only six HTTP/1.1 connections per host, so hidden pages close theirs and catch up when visible. */
function whileVisible(start: () => () => void): () => void {
  let stop: (() => void) | undefined;
  const follow = () => {
    if (document.visibilityState === 'visible') stop ??= start();
    else {
      stop?.();
      stop = undefined;
    }
  };
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    stop?.();
  };
}

/** Keeps a stream open until stopped, with exponential backoff. */
function run(
  query: string,
  variables: Record<string, unknown>,
  { onEvent, onOpen, onError, mark }: Listener,
): () => void {
  const stopped = new AbortController();
  const opened = () => {
    mark('live');
    onOpen();
  };
  void (async () => {
    for (let waitMs = FIRST_WAIT_MS; !stopped.signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      mark(navigator.onLine ? 'connecting' : 'offline');
      const worked = await listen(query, variables, { onEvent, onOpen: opened, onError, signal: stopped.signal });
      if (worked) waitMs = FIRST_WAIT_MS;
      mark(navigator.onLine ? 'connecting' : 'offline');
      await pause(waitMs * (0.5 + Math.random()), stopped.signal);
    }
    mark('off');
  })();
  return () => {
    stopped.abort();
    mark('off');
  };
}

/** Listens until the stream ends; resolves to whether it was healthy. */
async function listen(
  query: string,
  variables: Record<string, unknown>,
  { onEvent, onOpen, onError, signal }: Omit<Listener, 'mark'> & { signal: AbortSignal },
): Promise<boolean> {
  const { createClient } = await import('graphql-sse');
  if (signal.aborted) return false;
  const end = () => client.dispose();
  // After a sleep, or behind a router that forgot it, a connection may be dead although nothing has closed it.
  let silence = setTimeout(end, SILENCE_MS);
  const hear = () => {
    clearTimeout(silence);
    silence = setTimeout(end, SILENCE_MS);
  };
  const client = createClient({
    url: '/graphql/stream',
    retryAttempts: 0,
    credentials: 'same-origin',
    headers: { 'X-Project-Id': projectId },
    fetchFn: async (url: string, init: RequestInit) => heardBy(hear, await fetch(url, init)),
  });
  signal.addEventListener('abort', end);
  // A connection that was cut does not end by itself for minutes.
  window.addEventListener('offline', end);
  let worked = false;
  const opened = () => {
    if (worked || signal.aborted) return;
    worked = true;
    onOpen();
  };
  const settled = setTimeout(opened, SETTLED_MS);
  try {
    for await (const { data, errors } of client.iterate({ query, variables })) {
      if (signal.aborted) break;
      if (errors !== undefined) {
        // What the page shows may be gone.
        onError();
        break;
      }
      opened();
      onEvent(data);
    }
  } catch {
    // The loop tries again; the mark in the header says so meanwhile.
  } finally {
    clearTimeout(settled);
    clearTimeout(silence);
    signal.removeEventListener('abort', end);
    window.removeEventListener('offline', end);
    client.dispose();
  }
  return worked;
}

/** A response that calls `hear` with each chunk, which may be a comment. */
function heardBy(hear: () => void, response: Response): Response {
  const body = response.body?.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        hear();
        controller.enqueue(chunk);
      },
    }),
  );
  return new Response(body ?? null, response);
}

/** Sleeps, but wakes when the browser comes online. */
function pause(timeMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, timeMs);
    window.addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
}

let refreshing: ReturnType<typeof setTimeout> | undefined;
let refreshedAt = 0;

/** Refetches at once after a quiet second, otherwise at the end of it. */
function refreshSoon(): void {
  refreshing ??= setTimeout(
    () => {
      refreshing = undefined;
      refreshedAt = Date.now();
      refresh();
    },
    Math.max(0, refreshedAt + REFRESH_EVERY_MS - Date.now()),
  );
}

/** The state of each active stream; the header shows the worst. */
const marks = new Map<symbol, LiveState>();
const watchers = new Set<() => void>();
let shown: LiveState = 'off';

function newMark(): (state: LiveState) => void {
  const id = Symbol('stream');
  return (state) => {
    if (state === 'off') marks.delete(id);
    else marks.set(id, state);
    const states = [...marks.values()];
    shown = (['offline', 'connecting', 'live'] as const).find((worst) => states.includes(worst)) ?? 'off';
    for (const tell of watchers) tell();
  };
}

/** The combined stream state for the header. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => shown,
  );
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') refresh();
});
window.addEventListener('online', refresh);
