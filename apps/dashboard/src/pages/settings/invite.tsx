import { Button, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { Role } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DialogForm } from '../../components/form.tsx';
import { ROLES } from './roles.ts';

const INVITE = graphql(`
  mutation Invite($input: InviteInput!) {
    invite(input: $input) {
      invitation {
        id
      }
    }
  }
`);

/** Invites a member by email. Only the email contains the link, which proves ownership of the mailbox. */
export function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [sentTo, setSentTo] = useState<string>();
  const close = () => {
    setSentTo(undefined);
    onClose();
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      size="lg"
      title={sentTo === undefined ? 'Invite member' : 'Invitation sent'}
    >
      {sentTo === undefined ? (
        <InviteForm onInvited={setSentTo} onClose={close} />
      ) : (
        <Stack>
          <Text size="sm" role="status">
            We sent <b className="breakable">{sentTo}</b> an email with a link to join. The link works once, for this
            address only, and expires in seven days.
          </Text>
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

function InviteForm({ onInvited, onClose }: { onInvited: (email: string) => void; onClose: () => void }) {
  const isOwner = usePermission('own');
  const invite = useApiMutation(INVITE);
  return (
    <DialogForm
      values={{ email: '', role: 'member' as Role }}
      validate={{ email: (value) => (value.includes('@') ? null : 'Enter an email address') }}
      mutation={invite}
      save={async (input) => {
        const data = await invite.run({ input });
        if (data !== undefined) onInvited(input.email);
      }}
      submit="Send invitation"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput label="Email" type="email" autoComplete="off" data-autofocus {...form.getInputProps('email')} />
          <Radio.Group label="Role" {...form.getInputProps('role')}>
            <Stack gap="xs" mt={6}>
              {Object.entries(ROLES)
                .filter(([role]) => role !== 'owner' || isOwner)
                .map(([role, { label, does }]) => (
                  <Radio key={role} value={role} label={label} description={does} />
                ))}
            </Stack>
          </Radio.Group>
        </>
      )}
    </DialogForm>
  );
}
