import type { TypedDocumentNode } from '@urql/core';
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { textOf } from './document.ts';
import { refresh } from './refresh.ts';

/** Whether changes are told as they happen. `off` when nothing on the page changes by itself. */
export type LiveState = 'off' | 'live' | 'connecting' | 'offline';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** A stream that is open for so long is taken for a working one, even if nothing has happened yet. */
const SETTLED_MS = 700;
/** However fast things change, what is on the page is read again only so often. */
const REFRESH_EVERY_MS = 300;

let projectId = '';

/** Names the project whose changes are told; the frame does, whenever it shows another. */
export function setLiveProject(id: string): void {
  projectId = id;
}

/**
 * Listens to a subscription while the component is shown. What happened while the stream was cut is not told again, so
 * each time it opens, and after each event, what is on the page is read again; that loses nothing and needs no order.
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
    return whileVisible(() => run(textOf(document), JSON.parse(key) as Variables, (data) => tellEvent(data as Data)));
  }, [document, key, off]);
}

/** Browsers open only six connections to a host, so a hidden page keeps none; when it is seen again it catches up. */
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

/** Keeps a stream open until it is stopped, waiting longer after each failure. */
function run(query: string, variables: Record<string, unknown>, onEvent: (data: unknown) => void): () => void {
  const stopped = new AbortController();
  const mark = newMark();
  void (async () => {
    for (let waitMs = FIRST_WAIT_MS; !stopped.signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      mark(navigator.onLine ? 'connecting' : 'offline');
      const worked = await listen(query, variables, { onEvent, onOpen: () => mark('live'), signal: stopped.signal });
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

/** Listens until the stream ends; tells whether it had worked. */
async function listen(
  query: string,
  variables: Record<string, unknown>,
  { onEvent, onOpen, signal }: { onEvent: (data: unknown) => void; onOpen: () => void; signal: AbortSignal },
): Promise<boolean> {
  const { createClient } = await import('graphql-sse');
  if (signal.aborted) return false;
  const client = createClient({
    url: '/graphql/stream',
    retryAttempts: 0,
    credentials: 'same-origin',
    headers: { 'X-Project-Id': projectId },
  });
  const end = () => client.dispose();
  signal.addEventListener('abort', end);
  let worked = false;
  const opened = () => {
    if (worked || signal.aborted) return;
    worked = true;
    onOpen();
    refreshSoon();
  };
  const settled = setTimeout(opened, SETTLED_MS);
  try {
    for await (const { data, errors } of client.iterate({ query, variables })) {
      if (errors !== undefined || signal.aborted) break;
      opened();
      onEvent(data);
      refreshSoon();
    }
  } catch {
    // The loop tries again; the mark in the header says so meanwhile.
  } finally {
    clearTimeout(settled);
    signal.removeEventListener('abort', end);
    client.dispose();
  }
  return worked;
}

/** Waits, but not longer than until the connection is back. */
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

function refreshSoon(): void {
  refreshing ??= setTimeout(() => {
    refreshing = undefined;
    refresh();
  }, REFRESH_EVERY_MS);
}

/** The states of the streams that are wanted; the header shows the worst. */
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
    for (const notifySuccess of watchers) notifySuccess();
  };
}

/** What the header says of the streams of this page. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (notifySuccess) => {
      watchers.add(notifySuccess);
      return () => watchers.delete(notifySuccess);
    },
    () => shown,
  );
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') refresh();
});
window.addEventListener('online', refresh);
