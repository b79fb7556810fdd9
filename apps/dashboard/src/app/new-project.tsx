import { Text, TextInput } from '@mantine/core';
import { useApiMutation } from '../data/api-mutation.ts';
import { graphql } from '../generated/gql.ts';
import { Dialog } from '../components/dialog.tsx';
import { DialogForm, required } from '../components/form.tsx';
import { useNavigate } from '../components/use-navigate.ts';
import { useSession } from './session.tsx';

const CREATE = graphql(`
  mutation CreateProject($name: String!) {
    createProject(name: $name) {
      id
    }
  }
`);

/** Creates a project and opens it. */
export default function NewProject({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Dialog opened={opened} onClose={onClose} title="New project">
      <ProjectForm onClose={onClose} />
    </Dialog>
  );
}

function ProjectForm({ onClose }: { onClose: () => void }) {
  const { reload } = useSession();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  return (
    <DialogForm
      values={{ name: '' }}
      validate={{ name: required('Enter a project name') }}
      mutation={create}
      save={async (values) => {
        const data = await create.run(values);
        if (data === undefined) return;
        await reload();
        onClose();
        void navigate({ to: '/p/$projectId', params: { projectId: data.createProject.id } });
      }}
      submit="Create"
      onClose={onClose}
    >
      {(form) => (
        <>
          <Text size="sm">
            Each project has its own contacts, campaigns, domains and API keys. You will be its owner.
          </Text>
          <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        </>
      )}
    </DialogForm>
  );
}
