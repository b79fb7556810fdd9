import { FileInput, Stack, Text } from '@mantine/core';
import { camelKeys } from '@postroom/journey-definition/camel-keys';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons, FormError } from '../../components/form.tsx';
import { readDefinition } from './definition.ts';
import type { Definition } from './definition-types.ts';

/** Replaces the draft by the definition in a JSON file. Nothing is saved yet. */
export function ImportDialog({
  opened,
  onClose,
  onImport,
}: {
  opened: boolean;
  onClose: () => void;
  onImport: (definition: Definition) => void;
}) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Replace with a file">
      <ImportForm onClose={onClose} onImport={onImport} />
    </Dialog>
  );
}

function ImportForm({ onClose, onImport }: { onClose: () => void; onImport: (definition: Definition) => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [error, setError] = useState<string>();
  const read = async () => {
    try {
      const given: unknown = JSON.parse((await file?.text()) ?? '');
      if (typeof given !== 'object' || given === null || !('steps' in given) || !Array.isArray(given.steps))
        return setError('The file is not the definition of a journey: it has no steps.');
      return onImport(readDefinition(camelKeys(given)));
    } catch {
      return setError('The file is not JSON.');
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void read();
      }}
    >
      <Stack>
        <FormError>{error}</FormError>
        <Text size="sm" c="dimmed">
          The entry, rules and steps of the draft are replaced by those of the file, such as one downloaded from a
          journey.
        </Text>
        <FileInput
          label="File"
          accept="application/json,.json"
          placeholder="Choose a file"
          value={file}
          onChange={setFile}
        />
        <FormButtons submit="Replace" running={false} disabled={file === null} onCancel={onClose} />
      </Stack>
    </form>
  );
}
