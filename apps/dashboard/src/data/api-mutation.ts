import type { TypedDocumentNode } from '@urql/core';
import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import { NOT_SAVED_YET, type Problem, problemOf, RESPONSE_TIMEOUT_MS } from './problem.ts';
import { onStale, refresh } from './refresh.ts';

/** A mutation and its state. */
export interface ApiMutation<Data, Variables> {
  /** Runs the mutation. Resolves to its data, or undefined if it failed (see `problem`). */
  run: (variables: Variables) => Promise<Data | undefined>;
  running: boolean;
  problem: Problem | undefined;
  forget: () => void;
}

/** The cache adds names of types to what is read, and inputs that are made from it must not have them. */
const withoutTypeNames = <Variables>(variables: Variables): Variables =>
  JSON.parse(JSON.stringify(variables, (key, value: unknown) => (key === '__typename' ? undefined : value)));

/** How many mutations of the page wait for the server. */
let inFlight = 0;

/** Whether a change is on its way to the server, which may still refuse it. */
export const isChanging = (): boolean => inFlight > 0;

/** A mutation with its state. On success, every query on the page is refetched. */
export function useApiMutation<Data, Variables extends Record<string, unknown>>(
  mutation: TypedDocumentNode<Data, Variables>,
): ApiMutation<Data, Variables> {
  const client = useClient();
  const [running, setRunning] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  // Data becomes stale once the user has signed in again.
  useEffect(() => (problem?.code === 'unauthorized' ? onStale(() => setProblem(undefined)) : undefined), [problem]);
  const run = async (variables: Variables) => {
    setRunning(true);
    const late = setTimeout(() => setProblem(NOT_SAVED_YET), RESPONSE_TIMEOUT_MS);
    inFlight++;
    const result = await client.mutation(mutation, withoutTypeNames(variables)).toPromise();
    inFlight--;
    clearTimeout(late);
    setRunning(false);
    const refusal = problemOf(result);
    setProblem(refusal);
    // A conflict also means that the page is stale.
    if (refusal === undefined || refusal.code === 'conflict') refresh();
    return refusal === undefined ? result.data : undefined;
  };
  return { run, running, problem, forget: () => setProblem(undefined) };
}
