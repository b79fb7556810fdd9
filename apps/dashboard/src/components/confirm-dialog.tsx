import { Button, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Problem } from '../data/problem.ts';
import { Dialog } from './dialog.tsx';
import { FormButtons, FormProblem } from './form.tsx';

export interface ConfirmProps {
  opened: boolean;
  onClose: () => void;
  /** The question, such as "Revoke this key?". */
  title: string;
  /** The button label, such as "Revoke". */
  action: string;
  /** Text the user must type to enable the button; for irreversible actions. */
  confirmationText?: string;
  /** Not destructive, so the button is not red. */
  harmless?: boolean;
  /** Disables the button until other input is complete. */
  disabled?: boolean;
  running: boolean;
  problem: Problem | undefined;
  onConfirm: () => void;
  /** The consequences. */
  children: ReactNode;
}

/** A confirmation dialog; see `Confirm`. */
export function ConfirmDialog(props: ConfirmProps) {
  return (
    <Dialog opened={props.opened} onClose={props.onClose} title={props.title}>
      <Question {...props} />
    </Dialog>
  );
}

function Question({
  onClose,
  action,
  confirmationText,
  harmless = false,
  disabled = false,
  running,
  problem,
  onConfirm,
  children,
}: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <FormProblem problem={problem} />
        <Text size="sm" component="div">
          {children}
        </Text>
        {confirmationText !== undefined && (
          <TextInput
            label={
              <>
                Type <b className="breakable">{confirmationText}</b> to confirm
              </>
            }
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        <FormButtons
          submit={action}
          running={running}
          // White text needs this shade, in both color schemes.
          color={harmless ? undefined : 'red.8'}
          disabled={disabled || (confirmationText !== undefined && typed.trim() !== confirmationText.trim())}
        >
          <Button variant="default" onClick={onClose}>
            {harmless ? 'Cancel' : 'Keep it'}
          </Button>
        </FormButtons>
      </Stack>
    </form>
  );
}
