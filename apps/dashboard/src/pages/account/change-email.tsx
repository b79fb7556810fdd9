import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DialogForm } from '../../components/form.tsx';

const REQUEST = graphql(`
  mutation RequestEmailChange($input: EmailChangeInput!) {
    emailChangeRequest(input: $input) {
      emailChange {
        email
      }
    }
  }
`);

interface ChangeEmailProps {
  opened: boolean;
  onClose: () => void;
  hasPassword: boolean;
}

/** Asks for another address to sign in with. It changes when the link that is mailed there is opened. */
export function ChangeEmail({ opened, onClose, hasPassword }: ChangeEmailProps) {
  const [sentTo, setSentTo] = useState<string>();
  const close = () => {
    setSentTo(undefined);
    onClose();
  };
  return (
    <Dialog opened={opened} onClose={close} title={sentTo === undefined ? 'Change email address' : 'Check your email'}>
      {sentTo === undefined ? (
        <EmailForm onSent={setSentTo} onClose={close} hasPassword={hasPassword} />
      ) : (
        <Sent to={sentTo} onClose={close} />
      )}
    </Dialog>
  );
}

function EmailForm({
  onSent,
  onClose,
  hasPassword,
}: Omit<ChangeEmailProps, 'opened'> & { onSent: (to: string) => void }) {
  const request = useApiMutation(REQUEST);
  return (
    <DialogForm
      values={{ email: '', ...(hasPassword && { password: '' }) } as { email: string; password?: string }}
      validate={{
        email: (value) => (value.includes('@') ? null : 'Enter your new email address'),
        password: (value) => (value === '' ? 'Enter your password' : null),
      }}
      mutation={request}
      save={async (input) => {
        const sent = await request.run({ input });
        if (sent !== undefined) onSent(sent.emailChangeRequest.emailChange.email);
      }}
      submit="Send link"
      onClose={onClose}
    >
      {(form) => (
        <>
          <Text size="sm">We will email a link to the new address, to confirm that it is yours.</Text>
          <TextInput
            label="New email"
            type="email"
            autoComplete="email"
            data-autofocus
            {...form.getInputProps('email')}
          />
          {hasPassword && (
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              visibilityToggleButtonProps={{ 'aria-label': 'Show or hide password' }}
              {...form.getInputProps('password')}
            />
          )}
        </>
      )}
    </DialogForm>
  );
}

function Sent({ to, onClose }: { to: string; onClose: () => void }) {
  const { me } = useSession();
  return (
    <Stack>
      <Text size="sm" role="status">
        We sent an email to <b className="breakable">{to}</b>. Open its link within an hour, in a browser where you are
        signed in. Until then you sign in with {me.email}.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
