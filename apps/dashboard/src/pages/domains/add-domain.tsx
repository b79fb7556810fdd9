import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { FormButtons, FormProblem, useFieldProblems } from '../../components/form.tsx';

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
    <Modal opened={opened} onClose={onClose} title={<Text fw={600}>Add domain</Text>}>
      <DomainForm onClose={onClose} />
    </Modal>
  );
}

function DomainForm({ onClose }: { onClose: () => void }) {
  const { id: projectId } = useProject();
  const add = useApiMutation(ADD);
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { domain: '', mailFromLabel: 'bounce' },
    validate: { domain: (value) => (value.includes('.') ? null : 'Enter a domain, such as example.com') },
  });
  useFieldProblems(form, add.problem);
  const submit = form.onSubmit(async ({ domain, mailFromLabel }) => {
    const data = await add.run({ input: { domain: domain.trim(), mailFromLabel: mailFromLabel.trim() || null } });
    if (data === undefined) return;
    void navigate({ to: '/p/$projectId/domains/$domain', params: { projectId, domain: data.addDomain.domain } });
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormProblem problem={add.problem} fields={['domain', 'mailFromLabel']} />
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
        <FormButtons submit="Add domain" running={add.running} onCancel={onClose} />
      </Stack>
    </form>
  );
}
