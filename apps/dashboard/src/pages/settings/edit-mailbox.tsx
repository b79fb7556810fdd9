import { Group, NumberInput, PasswordInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { changedOf, DialogForm } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { ConnectionProblem } from './connection-problem.tsx';
import { numberOrNull, textOrNull } from './mailbox-labels.ts';
import type { Mailbox } from './mailbox-row.ts';

const UPDATE = graphql(`
  mutation UpdateMailbox($id: ID!, $input: UpdateMailboxInput!) {
    updateMailbox(id: $id, input: $input) {
      id
      status
      statusReason
    }
  }
`);

/** Edits limits and credentials of a mailbox; blank secrets are kept. It stays open while the connection fails. */
export function EditMailbox({ of: mailbox, onClose }: { of: Mailbox | undefined; onClose: () => void }) {
  return (
    <Dialog opened={mailbox !== undefined} onClose={onClose} title="Edit mailbox">
      {mailbox !== undefined && <EditForm mailbox={mailbox} onClose={onClose} />}
    </Dialog>
  );
}

function EditForm({ mailbox, onClose }: { mailbox: Mailbox; onClose: () => void }) {
  const { id, email, provider, signIn } = mailbox;
  const update = useApiMutation(UPDATE);
  const [failed, setFailed] = useState<{ statusReason: string | null }>();
  const secret = signIn === 'password' ? 'password' : 'clientSecret';
  return (
    <DialogForm
      values={{
        host: mailbox.host,
        port: mailbox.port as number | string,
        perMinute: mailbox.perMinute as number | string,
        dailyCap: mailbox.dailyCap as number | string,
        password: '',
        clientSecret: '',
      }}
      mutation={update}
      save={async (values, form) => {
        const isOther = provider === 'other';
        const { host, port, perMinute, dailyCap } = changedOf(values, form);
        const data = await update.run({
          id,
          input: {
            host: isOther ? (host?.trim() ?? null) : null,
            port: isOther ? numberOrNull(port ?? '') : null,
            perMinute: numberOrNull(perMinute ?? ''),
            dailyCap: numberOrNull(dailyCap ?? ''),
            password: signIn === 'password' ? textOrNull(values.password) : null,
            clientSecret: signIn === 'oauth2' ? textOrNull(values.clientSecret) : null,
          },
        });
        if (data === undefined) return;
        if (data.updateMailbox.status === 'needs_attention') return setFailed(data.updateMailbox);
        notifySuccess(`${email} was updated.`);
        onClose();
      }}
      submit="Save"
      onClose={onClose}
    >
      {(form) => (
        <>
          {failed !== undefined && (
            <ConnectionProblem title={`${email} was updated, but the connection failed`} of={failed} />
          )}
          {provider === 'other' && (
            <Group grow align="flex-start">
              <TextInput label="Mail server" autoComplete="off" {...form.getInputProps('host')} />
              <NumberInput label="Port" hideControls min={1} max={65_535} {...form.getInputProps('port')} />
            </Group>
          )}
          <PasswordInput
            label={signIn === 'password' ? 'New password' : 'New client secret'}
            description="Leave blank to keep the current one."
            autoComplete="new-password"
            {...form.getInputProps(secret)}
          />
          <Group grow align="flex-start">
            <NumberInput
              label="Maximum messages per minute"
              min={1}
              hideControls
              {...form.getInputProps('perMinute')}
            />
            <NumberInput label="Daily limit" min={1} hideControls {...form.getInputProps('dailyCap')} />
          </Group>
        </>
      )}
    </DialogForm>
  );
}
