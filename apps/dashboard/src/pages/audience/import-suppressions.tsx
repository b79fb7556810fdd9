import '@mantine/core/styles/Switch.css';
import { Alert, Button, FileInput, Modal, Progress, Select, Stack, Switch, Text } from '@mantine/core';
import { IconCircleCheck, IconInfoCircle } from '@tabler/icons-react';
import { useState } from 'react';
import { FormButtons, FormError, FormProblem } from '../../components/form.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { countOf, number } from '../campaigns/campaign-labels.ts';
import type { Entry } from './suppression-file.ts';
import type { Reason } from './subscription.tsx';

const ADD = graphql(`
  mutation AddSuppressions($input: AddSuppressionsInput!) {
    addSuppressions(input: $input) {
      created
      existing
      invalid
      causes {
        message
        entries
        firstIndex
      }
    }
  }
`);

const BATCH = 1000;
const MAX_BYTES = 50 * 1024 * 1024;

interface Cause {
  message: string;
  rows: number;
  firstLine: number;
}

interface Result {
  dryRun: boolean;
  created: number;
  existing: number;
  invalid: number;
  causes: Cause[];
}

/** Imports a CSV file of addresses into the suppression list, after a dry run if wanted. */
export function ImportSuppressions({
  opened,
  names,
  onClose,
}: {
  opened: boolean;
  names: Record<Reason, string>;
  onClose: () => void;
}) {
  return (
    <Modal opened={opened} onClose={onClose} title={<Text fw={600}>Import suppressions</Text>}>
      <ImportForm names={names} onClose={onClose} />
    </Modal>
  );
}

function ImportForm({ names, onClose }: { names: Record<Reason, string>; onClose: () => void }) {
  const add = useApiMutation(ADD);
  const [file, setFile] = useState<File | null>(null);
  const [reason, setReason] = useState<Reason>('manual');
  const [dryRun, setDryRun] = useState(true);
  const [share, setShare] = useState<number>();
  const [wrong, setWrong] = useState<string>();
  const [result, setResult] = useState<Result>();
  const send = async (isDry: boolean) => {
    if (file === null) return setWrong('Choose a CSV file.');
    if (file.size > MAX_BYTES) return setWrong('Choose a file of at most 50 MB.');
    setResult(undefined);
    setShare(0);
    const { readSuppressions } = await import('./suppression-file.ts');
    const entries = await readSuppressions(file, reason);
    if (typeof entries === 'string') {
      setShare(undefined);
      return setWrong(entries);
    }
    setWrong(undefined);
    const done = await uploadEntries(entries, isDry);
    setShare(undefined);
    return setResult(done);
  };
  const uploadEntries = async (entries: Entry[], isDry: boolean): Promise<Result | undefined> => {
    const sum: Result = { dryRun: isDry, created: 0, existing: 0, invalid: 0, causes: [] };
    for (let from = 0; from < entries.length; from += BATCH) {
      const part = entries.slice(from, from + BATCH);
      const input = { entries: part.map(({ email, reason: why }) => ({ email, reason: why })), dryRun: isDry };
      // One after the other, so that the progress is true and the server is not flooded.
      // oxlint-disable-next-line no-await-in-loop
      const data = await add.run({ input });
      if (data === undefined) return undefined;
      const { created, existing, invalid, causes } = data.addSuppressions;
      sum.created += created;
      sum.existing += existing;
      sum.invalid += invalid;
      for (const { message, entries: rows, firstIndex } of causes) {
        const known = sum.causes.find((cause) => cause.message === message);
        if (known === undefined) sum.causes.push({ message, rows, firstLine: part[firstIndex]?.line ?? 0 });
        else known.rows += rows;
      }
      setShare(Math.min(1, (from + BATCH) / entries.length));
    }
    sum.causes.sort((one, other) => other.rows - one.rows);
    return sum;
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send(dryRun);
      }}
      noValidate
    >
      <Stack>
        <FormProblem problem={add.problem} />
        <FormError>{wrong}</FormError>
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
          data={Object.entries(names).map(([value, label]) => ({ value, label }))}
          value={reason}
          onChange={(next) => setReason((next ?? 'manual') as Reason)}
        />
        <Switch
          label="Do a dry run first"
          description="Nothing is written. You see what the import would do."
          checked={dryRun}
          onChange={(event) => setDryRun(event.currentTarget.checked)}
        />
        {share !== undefined && (
          <Progress value={share * 100} animated aria-label={`Sent: ${Math.round(share * 100)} %`} />
        )}
        {result !== undefined && <Results result={result} />}
        <FormButtons
          submit={dryRun ? 'Start dry run' : 'Import'}
          running={share !== undefined}
          disabled={file === null}
        >
          <Button variant="default" onClick={onClose}>
            {result?.dryRun === false ? 'Close' : 'Cancel'}
          </Button>
          {result?.dryRun === true && result.created > 0 && (
            <Button disabled={share !== undefined} onClick={() => void send(false)}>
              Import now
            </Button>
          )}
        </FormButtons>
      </Stack>
    </form>
  );
}

function Results({ result: { dryRun, created, existing, causes } }: { result: Result }) {
  return (
    <Alert
      role="status"
      color={dryRun ? 'blue' : 'green'}
      icon={dryRun ? <IconInfoCircle aria-hidden /> : <IconCircleCheck aria-hidden />}
      title={dryRun ? 'Nothing was written' : 'Imported'}
    >
      <Text size="sm">
        {countOf(created, 'address', 'addresses')} {dryRun ? 'would be added' : 'added'}, {number(existing)} already
        suppressed.
      </Text>
      {causes.map(({ message, rows, firstLine }) => (
        <Text key={message} size="sm" className="breakable">
          {countOf(rows, 'row')}: {message}. First in line {number(firstLine)}. Correct it in the file.
        </Text>
      ))}
    </Alert>
  );
}
