import type { Client, OperationContext, OperationResult, TypedDocumentNode } from '@urql/core';
import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { textOf } from './document.ts';
import { isGone, NOT_RESPONDING, type Problem, problemOf, RESPONSE_TIMEOUT_MS } from './problem.ts';
import { onStale } from './refresh.ts';
import { share } from './share.ts';
import { hasUnsavedChanges } from './unsaved-changes.ts';

/** A query and its state. */
export interface ApiQuery<Data> {
  /**
   * The last result; kept during refetches and when they fail, unless it is gone and the page has no unsaved changes. What a refetch did not
   * change keeps its identity.
   */
  data: Data | undefined;
  /** Why the last attempt failed, or that it takes long. */
  problem: Problem | undefined;
  /** When `data` arrived, in ms since the epoch. */
  at: number | undefined;
  again: () => void;
}

interface State<Data> {
  key: string;
  data?: Data;
  problem?: Problem | undefined;
}

/** Sends a query, and passes on its results until the returned function is called. */
export type Ask<Data> = (
  client: Client,
  query: TypedDocumentNode<Data, Record<string, unknown>>,
  variables: Record<string, unknown>,
  context: Partial<OperationContext>,
  answer: (result: OperationResult<Data>) => void,
) => () => void;

const askOnce: Ask<unknown> = (client, query, variables, context, answer) => {
  const subscription = client.query(query, variables, context).subscribe(answer);
  return () => subscription.unsubscribe();
};

/**
 * Runs a query and keeps it current: mutations and live events refetch it. A refetch that changes nothing does not
 * render the page again.
 */
export function useApiQuery<Data, Variables extends Record<string, unknown>>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { pause = false, ask = askOnce as Ask<Data> }: { pause?: boolean; ask?: Ask<Data> } = {},
): ApiQuery<Data> {
  const client = useClient();
  const text = textOf(query);
  const given = JSON.stringify(variables);
  const key = `${text} ${given}`;
  const [state, setState] = useState<State<Data>>({ key });
  const at = useRef<number>(undefined);
  const again = useRef(() => {});

  // Before the first paint, so that a cached result is shown without a skeleton.
  useLayoutEffect(() => {
    if (pause) return undefined;
    let isLoading = false;
    let isStale = false;
    let stop = () => {};
    const load = (requestPolicy: 'cache-and-network' | 'network-only') => {
      stop();
      isLoading = true;
      isStale = false;
      const late = setTimeout(() => {
        // Its connection may be dead, so the next event repeats it.
        isLoading = false;
        setState((last) => next(last, key, { problem: NOT_RESPONDING }));
      }, RESPONSE_TIMEOUT_MS);
      const forget = ask(client, query as TypedDocumentNode<Data>, JSON.parse(given), { requestPolicy }, (result) => {
        const { data, stale } = result;
        const problem = problemOf(result);
        if (data != null) {
          at.current = Date.now();
          setState((last) => next(last, key, { data, problem: undefined }));
        }
        if (problem !== undefined) setState((last) => next(last, key, { problem }));
        if (stale) return;
        clearTimeout(late);
        isLoading = false;
        if (isStale) load('network-only');
      });
      stop = () => {
        clearTimeout(late);
        forget();
      };
    };
    load('cache-and-network');
    again.current = () => load('network-only');
    // Events that arrive while a request is under way are answered by one more, after it.
    const ignore = onStale(() => {
      if (isLoading) isStale = true;
      else load('network-only');
    });
    return () => {
      ignore();
      stop();
    };
  }, [client, query, given, key, pause, ask]);

  const { data, problem } = state.key === key ? state : { data: undefined, problem: undefined };
  return {
    data,
    problem,
    at: data === undefined ? undefined : at.current,
    again: useCallback(() => again.current(), []),
  };
}

/** The next state: the last one itself if nothing has changed. */
function next<Data>(last: State<Data>, key: string, change: Omit<State<Data>, 'key'>): State<Data> {
  const known: State<Data> = last.key === key ? last : { key };
  // A page with unsaved changes stays, so that its user can copy them.
  const kept = isGone(change.problem) && !hasUnsavedChanges() ? undefined : known.data;
  const data = change.data === undefined ? kept : share(known.data, change.data);
  const isSame = known === last && data === known.data && change.problem === known.problem;
  return isSame ? last : { key, ...(data === undefined ? {} : { data }), problem: change.problem };
}
