import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DialogForm, required } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
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
    <Dialog opened={opened} onClose={onClose} title="Add contact">
      <ContactForm fields={fields} onClose={onClose} />
    </Dialog>
  );
}

function ContactForm({ fields, onClose }: Omit<CreateContactProps, 'opened'>) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  const [values, setValues] = useState<Values>({});
  return (
    <DialogForm
      values={{ email: '', name: '' }}
      validate={{ email: required('Enter an email address') }}
      mutation={create}
      hasOtherInput={Object.keys(values).length > 0}
      otherFields={fields.map(({ key }) => key)}
      save={async ({ email, name }) => {
        const data = await create.run({
          input: { email, name: name.trim() === '' ? null : name, customFields: values },
        });
        if (data === undefined) return;
        const { created, contact } = data.createContact;
        notifySuccess(created ? `${contact.email} was added.` : 'This contact already exists.');
        onClose();
        void navigate({ to: '/p/$projectId/contacts/$contactId', params: { projectId, contactId: contact.id } });
      }}
      submit="Add"
      onClose={onClose}
    >
      {(form) => (
        <>
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
        </>
      )}
    </DialogForm>
  );
}
