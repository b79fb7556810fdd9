import { TextInput } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DialogForm } from '../../components/form.tsx';
import { useNavigate } from '../../components/use-navigate.ts';

const ADD = graphql(`
  mutation AddDomain($input: AddDomainInput!) {
    addDomain(input: $input) {
      id
      domain
    }
  }
`);

/** Adds a domain and opens its DNS records. */
export function AddDomain({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Add domain">
      <DomainForm onClose={onClose} />
    </Dialog>
  );
}

function DomainForm({ onClose }: { onClose: () => void }) {
  const { id: projectId } = useProject();
  const add = useApiMutation(ADD);
  const navigate = useNavigate();
  return (
    <DialogForm
      values={{ domain: '', mailFromLabel: 'bounce' }}
      validate={{ domain: (value) => (value.includes('.') ? null : 'Enter a domain, such as example.com') }}
      mutation={add}
      save={async ({ domain, mailFromLabel }) => {
        const data = await add.run({ input: { domain: domain.trim(), mailFromLabel: mailFromLabel.trim() || null } });
        if (data === undefined) return;
        void navigate({ to: '/p/$projectId/domains/$domain', params: { projectId, domain: data.addDomain.domain } });
      }}
      submit="Add domain"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput
            label="Domain"
            placeholder="mail.example.com"
            description="The part after the @ in your from addresses."
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            {...form.getInputProps('domain')}
          />
          <TextInput
            label="MAIL FROM subdomain"
            description={`Bounces go to ${form.values.mailFromLabel || 'bounce'}.${form.values.domain || 'mail.example.com'}. Choose another label if that one is already in use.`}
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps('mailFromLabel')}
          />
        </>
      )}
    </DialogForm>
  );
}
