import type { TypedDocumentNode } from '@urql/core';
import { useState } from 'react';
import { useClient } from 'urql';
import { type Problem, problemOf } from './problem.ts';
import { refresh } from './refresh.ts';

/** A write that a page offers. */
export interface ApiMutation<Data, Variables> {
  /** Does it; resolves to what the server answered, or to nothing when it refused (`problem` says why then). */
  run: (variables: Variables) => Promise<Data | undefined>;
  running: boolean;
  problem: Problem | undefined;
  forget: () => void;
}

/** A mutation with its state. When it succeeds, everything on the page is read again. */
export function useApiMutation<Data, Variables extends Record<string, unknown>>(
  mutation: TypedDocumentNode<Data, Variables>,
): ApiMutation<Data, Variables> {
  const client = useClient();
  const [running, setRunning] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const run = async (variables: Variables) => {
    setRunning(true);
    const { data, error } = await client.mutation(mutation, variables).toPromise();
    setRunning(false);
    const refusal = error === undefined ? undefined : problemOf(error);
    setProblem(refusal);
    // After a conflict, too, it is not any more what the page shows.
    if (refusal === undefined || refusal.code === 'conflict') refresh();
    return refusal === undefined ? data : undefined;
  };
  return { run, running, problem, forget: () => setProblem(undefined) };
}
