import type { TypedDocumentNode } from '@urql/core';
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { textOf } from './document.ts';
import { type Problem, problemOf } from './problem.ts';
import { onStale } from './refresh.ts';

/** A query and its state. */
export interface ApiQuery<Data> {
  /** The last result; kept during refetches and when they fail. */
  data: Data | undefined;
  /** Why the last attempt failed. */
  problem: Problem | undefined;
  /** When `data` arrived, in ms since the epoch. */
  at: number | undefined;
  fetching: boolean;
  again: () => void;
}

/** Runs a query and keeps it current: mutations and live events refetch it. */
export function useApiQuery<Data, Variables extends Record<string, unknown>>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { pause = false }: { pause?: boolean } = {},
): ApiQuery<Data> {
  const [result, execute] = useQuery<Data, Variables>({
    query,
    variables,
    pause,
    requestPolicy: 'cache-and-network',
  } as Parameters<typeof useQuery<Data, Variables>>[0]);
  const again = () => execute({ requestPolicy: 'network-only' });
  useEffect(() => onStale(() => execute({ requestPolicy: 'network-only' })), [execute]);
  const kept = useKept(result.data ?? undefined, `${textOf(query)} ${JSON.stringify(variables)}`);
  const { error } = result;
  return {
    data: kept?.data,
    at: kept?.at,
    problem: error === undefined ? undefined : problemOf(error),
    fetching: result.fetching,
    again,
  };
}

/** The last data for the same query and variables: urql drops it when a refetch fails. */
function useKept<Data>(data: Data | undefined, key: string): { data: Data; at: number } | undefined {
  const [kept, setKept] = useState<{ key: string; data: Data; at: number }>();
  const current = kept?.key === key ? kept : undefined;
  if (data !== undefined && current?.data !== data) {
    const next = { key, data, at: Date.now() };
    setKept(next);
    return next;
  }
  return current;
}
