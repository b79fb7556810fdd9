import { Button, Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useMay } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { graphql } from '../../generated/gql.ts';
import type { Role } from '../../generated/graphql.ts';
import { CopyField } from '../../parts/copy.tsx';
import { FormButtons, FormProblem, useFieldProblems } from '../../parts/form.tsx';
import { ROLES } from './roles.ts';

const INVITE = graphql(`
  mutation Invite($input: InviteInput!) {
    invite(input: $input) {
      id
      url
    }
  }
`);

interface Invited {
  email: string;
  url: string;
}

/** Invites a person by mail, and shows the link, this once, for whoever gives it to them in another way. */
export function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [invited, setInvited] = useState<Invited>();
  const close = () => {
    setInvited(undefined);
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      size="lg"
      title={<Text fw={600}>{invited === undefined ? 'Invite a person' : 'The invitation is on its way'}</Text>}
    >
      {invited === undefined ? <InviteForm onInvited={setInvited} onClose={close} /> : <Link of={invited} />}
    </Modal>
  );
}

function Link({ of: { email, url } }: { of: Invited }) {
  return (
    <Stack>
      <Text size="sm">
        {email} gets a mail with a link, if a relay is set up. The link works for seven days, once, and only for this
        address.
      </Text>
      <CopyField label="The link, to send it in another way" value={url} />
    </Stack>
  );
}

function InviteForm({ onInvited, onClose }: { onInvited: (invited: Invited) => void; onClose: () => void }) {
  const may = useMay();
  const invite = useChange(INVITE);
  const form = useForm({
    initialValues: { email: '', role: 'member' as Role },
    validate: { email: (value) => (value.includes('@') ? null : 'Give an email address') },
  });
  useFieldProblems(form, invite.problem);
  const submit = form.onSubmit(async (input) => {
    const data = await invite.run({ input });
    if (data !== undefined) onInvited({ email: input.email, url: data.invite.url });
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormProblem problem={invite.problem} fields={['email']} />
        <TextInput label="Email" type="email" autoComplete="off" data-autofocus {...form.getInputProps('email')} />
        <Radio.Group label="Role" {...form.getInputProps('role')}>
          <Stack gap="xs" mt={6}>
            {Object.entries(ROLES)
              .filter(([role]) => role !== 'owner' || may('own'))
              .map(([role, { label, does }]) => (
                <Radio key={role} value={role} label={label} description={does} />
              ))}
          </Stack>
        </Radio.Group>
        <FormButtons submit="Send the invitation" running={invite.running}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </FormButtons>
      </Stack>
    </form>
  );
}
