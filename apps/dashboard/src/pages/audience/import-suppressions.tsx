import '@mantine/core/styles/Switch.css';
import { FileInput, Progress, Select, Stack, Switch } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { formatShare } from '../../components/numbers.ts';
import { FormButtons, FormError, FormProblem } from '../../components/form.tsx';
import { MAX_FILE_BYTES } from '../imports/send-file.ts';
import { useFileImport } from '../imports/use-file-import.ts';
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
  const [file, setFile] = useState<File | null>(null);
  const [reason, setReason] = useState<Reason>('manual');
  const [dryRun, setDryRun] = useState(true);
  const isTooLarge = file !== null && file.size > MAX_FILE_BYTES;
  const { upload, share, problem } = useFileImport(file !== null);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (file !== null && !isTooLarge) void upload(file, { kind: 'suppressions', reason, dryRun });
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
