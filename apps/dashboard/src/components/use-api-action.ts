import type { TypedDocumentNode } from '@urql/core';
import { useEffect } from 'react';
import { type ApiMutation, useApiMutation } from '../data/api-mutation.ts';
import { NOT_SAVED_YET } from '../data/problem.ts';
import { notifyError } from './notify.tsx';

/** A mutation that a button without a form runs. A notification says why it failed; while it runs, the button shows that. */
export function useApiAction<Data, Variables extends Record<string, unknown>>(
  mutation: TypedDocumentNode<Data, Variables>,
): ApiMutation<Data, Variables> {
  const action = useApiMutation(mutation);
  const { problem } = action;
  useEffect(() => {
    if (problem !== undefined && problem !== NOT_SAVED_YET) notifyError(problem.message);
  }, [problem]);
  return action;
}
