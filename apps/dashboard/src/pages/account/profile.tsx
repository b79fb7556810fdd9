import { Card, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSession } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useUnsavedForm } from '../../data/unsaved-changes.ts';
import { graphql } from '../../generated/gql.ts';
import { FormButtons, FormProblem, required, useFieldProblems } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';

const RENAME = graphql(`
  mutation RenameMe($name: String!) {
    renameMe(name: $name) {
      id
      name
    }
  }
`);

export function Profile() {
  const { me, reload } = useSession();
  const rename = useApiMutation(RENAME);
  const form = useForm({
    initialValues: { name: me.name },
    validate: { name: required('Enter your name') },
  });
  useUnsavedForm(form);
  useFieldProblems(form, rename.problem);
  const submit = form.onSubmit(async ({ name }) => {
    if ((await rename.run({ name })) === undefined) return;
    // More may have been typed since.
    form.resetDirty({ name });
    notifySuccess('Profile updated.');
    await reload();
  });
  return (
    <Section title="Profile">
      <Card>
        <form onSubmit={submit} noValidate>
          <Stack>
            <FormProblem problem={rename.problem} fields={['name']} />
            <TextInput label="Name" autoComplete="name" {...form.getInputProps('name')} />
            <FormButtons submit="Save" running={rename.running || form.submitting} disabled={!form.isDirty()} />
          </Stack>
        </form>
      </Card>
    </Section>
  );
}
