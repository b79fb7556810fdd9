import { useRef, useState } from 'react';
import { useClient } from 'urql';
import { useProject } from '../../app/session.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import type { Problem } from '../../data/problem.ts';
import { LEAVE_QUESTION, useUnsavedChanges } from '../../data/unsaved-changes.ts';
import type { ImportContactsInput } from '../../generated/graphql.ts';
import { sendFile } from './send-file.ts';

/**
 * Uploads a file and opens the page of its import. Leaving before the import is started asks first, during the upload too.
 * `share` is how much of the file is sent, 0 to 1; undefined while nothing is.
 */
export function useFileImport(isChanged: boolean) {
  const client = useClient();
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const [share, setShare] = useState<number>();
  const [problem, setProblem] = useState<Problem>();
  const isStarted = useRef(false);
  useUnsavedChanges(isChanged || share !== undefined, () => (isStarted.current ? undefined : LEAVE_QUESTION));
  const upload = async (file: File, input: ImportContactsInput) => {
    setProblem(undefined);
    setShare(0);
    const sent = await sendFile(client, file, input, setShare);
    setShare(undefined);
    if (sent.id === undefined) return setProblem(sent.problem);
    isStarted.current = true;
    return navigate({ to: '/p/$projectId/imports/$importId', params: { projectId, importId: sent.id } });
  };
  return { upload, share, problem };
}
