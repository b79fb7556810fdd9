import type { TypedDocumentNode } from '@urql/core';
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { textOf } from './document.ts';
import { type Problem, problemOf } from './problem.ts';
import { onStale } from './refresh.ts';

/** What a page asked for, as far as it is known. */
export interface ApiQuery<Data> {
  /** The last answer; kept while it is asked again and when that fails. */
  data: Data | undefined;
  /** Why the last try failed. */
  problem: Problem | undefined;
  /** When `data` came, as milliseconds since 1970. */
  at: number | undefined;
  fetching: boolean;
  again: () => void;
}

/** Reads a document and keeps it current: what changes on the page, or is told by a live view, has it read again. */
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

/** The last data there was for the same question: urql drops it when a later try fails. */
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
