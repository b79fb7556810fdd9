import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useApiMutation } from '../data/api-mutation.ts';
import { graphql } from '../generated/gql.ts';
import { FormButtons, FormProblem, useFieldProblems } from '../components/form.tsx';
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
    <Modal opened={opened} onClose={onClose} title={<Text fw={600}>New project</Text>}>
      <ProjectForm onClose={onClose} />
    </Modal>
  );
}

function ProjectForm({ onClose }: { onClose: () => void }) {
  const { reload } = useSession();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (value) => (value.trim() === '' ? 'Enter a project name' : null) },
  });
  useFieldProblems(form, create.problem);
  const submit = form.onSubmit(async (values) => {
    const data = await create.run(values);
    if (data === undefined) return;
    await reload();
    onClose();
    void navigate({ to: '/p/$projectId', params: { projectId: data.createProject.id } });
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">
          Each project has its own contacts, campaigns, domains and API keys. You will be its owner.
        </Text>
        <FormProblem problem={create.problem} fields={['name']} />
        <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <FormButtons submit="Create" running={create.running} onCancel={onClose} />
      </Stack>
    </form>
  );
}
