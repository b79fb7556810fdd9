import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { FormButtons, FormProblem, useFieldProblems } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { FieldInputs } from './field-inputs.tsx';
import type { CustomField, Values } from './field-values.tsx';

const CREATE = graphql(`
  mutation CreateContact($input: CreateContactInput!) {
    createContact(input: $input) {
      created
      contact {
        id
        email
      }
    }
  }
`);

interface CreateContactProps {
  opened: boolean;
  onClose: () => void;
  fields: CustomField[];
}

/** Creates a contact and opens it. */
export function CreateContact({ opened, onClose, fields }: CreateContactProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={<Text fw={600}>Add contact</Text>}>
      <ContactForm fields={fields} onClose={onClose} />
    </Modal>
  );
}

function ContactForm({ fields, onClose }: Omit<CreateContactProps, 'opened'>) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  const [values, setValues] = useState<Values>({});
  const form = useForm({
    initialValues: { email: '', name: '' },
    validate: { email: (value) => (value.trim() === '' ? 'Enter an email address' : null) },
  });
  useFieldProblems(form, create.problem);
  const submit = form.onSubmit(async ({ email, name }) => {
    const data = await create.run({ input: { email, name: name.trim() === '' ? null : name, customFields: values } });
    if (data === undefined) return;
    const { created, contact } = data.createContact;
    notifySuccess(created ? `${contact.email} was added.` : 'This contact already exists.');
    onClose();
    void navigate({ to: '/p/$projectId/contacts/$contactId', params: { projectId, contactId: contact.id } });
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormProblem problem={create.problem} fields={['email', 'name', ...fields.map(({ key }) => key)]} />
        <TextInput
          label="Email"
          type="email"
          placeholder="ada@example.com"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('email')}
        />
        <TextInput
          label="Name"
          description="Without one, templates use their fallback."
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        <FieldInputs fields={fields} values={values} errors={create.problem?.fields ?? {}} onChange={setValues} />
        <FormButtons submit="Add" running={create.running} onCancel={onClose} />
      </Stack>
    </form>
  );
}
