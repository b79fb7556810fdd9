import { PasswordInput, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { FormButtons, FormError } from '../../components/form.tsx';

interface AskPasswordProps {
  opened: boolean;
  onClose: () => void;
  /** Resolves to the error message, or undefined on success. */
  onPassword: (password: string) => Promise<string | undefined>;
}

/** Asks for the password again, in case someone else is using an unlocked browser. */
export function AskPassword(props: AskPasswordProps) {
  return (
    <Dialog opened={props.opened} onClose={props.onClose} title="Confirm your password">
      <Question {...props} />
    </Dialog>
  );
}

function Question({ onClose, onPassword }: AskPasswordProps) {
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<string>();
  const [waiting, setWaiting] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setWaiting(true);
    const refused = await onPassword(password);
    if (refused === undefined) return onClose();
    setWaiting(false);
    setProblem(refused);
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        <FormError>{problem}</FormError>
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          data-autofocus
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide password' }}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <FormButtons submit="Continue" running={waiting} disabled={password === ''} onCancel={onClose} />
      </Stack>
    </form>
  );
}
