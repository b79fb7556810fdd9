import '@mantine/core/styles/Switch.css';
import { FileInput, Progress, Select, Stack, Switch } from '@mantine/core';
import { useRef, useState } from 'react';
import { useClient } from 'urql';
import { useProject } from '../../app/session.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { formatShare } from '../../components/numbers.ts';
import { FormButtons, FormError, FormProblem } from '../../components/form.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import type { Problem } from '../../data/problem.ts';
import { LEAVE_QUESTION, useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { MAX_FILE_BYTES, sendFile } from '../imports/send-file.ts';
import { type Reason, REASON_LABELS } from './subscription.tsx';

/** Uploads a CSV file of addresses for the suppression list. The import then has its own page. */
export function ImportSuppressions({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Import suppressions">
      <ImportForm onClose={onClose} />
    </Dialog>
  );
}

function ImportForm({ onClose }: { onClose: () => void }) {
  const client = useClient();
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const [file, setFile] = useState<File | null>(null);
  const [reason, setReason] = useState<Reason>('manual');
  const [dryRun, setDryRun] = useState(true);
  /** How much of the file is sent, 0 to 1; undefined while nothing is. */
  const [share, setShare] = useState<number>();
  const [problem, setProblem] = useState<Problem>();
  const isTooLarge = file !== null && file.size > MAX_FILE_BYTES;
  const isStarted = useRef(false);
  useUnsavedChanges(file !== null, () => (isStarted.current ? undefined : LEAVE_QUESTION));
  const send = async () => {
    if (file === null || isTooLarge) return;
    setProblem(undefined);
    setShare(0);
    const sent = await sendFile(client, file, { kind: 'suppressions', reason, dryRun }, setShare);
    setShare(undefined);
    if (sent.id === undefined) return setProblem(sent.problem);
    isStarted.current = true;
    void navigate({ to: '/p/$projectId/imports/$importId', params: { projectId, importId: sent.id } });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      noValidate
    >
      <Stack>
        <FormProblem problem={problem} />
        <FormError>{isTooLarge ? 'The file is larger than 200 MB. Split it into several.' : undefined}</FormError>
        <FileInput
          label="CSV file"
          description="One address per row. A column named reason is used if there is one."
          placeholder="Choose a file"
          accept=".csv,.txt,.tsv,text/csv"
          clearable
          clearButtonProps={{ 'aria-label': 'Remove the file' }}
          value={file}
          onChange={setFile}
        />
        <Select
          label="Reason for rows without one"
          allowDeselect={false}
          data={Object.entries(REASON_LABELS).map(([value, label]) => ({ value, label }))}
          value={reason}
          onChange={(next) => setReason((next ?? 'manual') as Reason)}
        />
        <Switch
          label="Do a dry run first"
          description="Nothing is written. You see what the import would do."
          checked={dryRun}
          onChange={(event) => setDryRun(event.currentTarget.checked)}
        />
        {share !== undefined && <Progress value={share * 100} animated aria-label={`Sent: ${formatShare(share)}`} />}
        <FormButtons
          submit={dryRun ? 'Start dry run' : 'Import'}
          running={share !== undefined}
          disabled={file === null || isTooLarge}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
