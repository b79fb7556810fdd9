import { Button, Card, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMay, useProject, useSession } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { CopyField } from '../../components/copy.tsx';
import { FormProblem, useFieldProblems } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Page } from '../../components/page.tsx';
import { BrandColor } from './brand-color.tsx';
import { PostalAddress } from './postal-address.tsx';
import { Retention } from './retention.tsx';
import { Tracking } from './tracking.tsx';

const RENAME = graphql(`
  mutation RenameProject($name: String!) {
    renameProject(name: $name) {
      id
      name
    }
  }
`);

/** The project's name and ID. */
export function ProjectSettings() {
  const { id, name } = useProject();
  const { reload } = useSession();
  const manages = useMay()('manage');
  const rename = useApiMutation(RENAME);
  const form = useForm({
    initialValues: { name },
    validate: { name: (value) => (value.trim() === '' ? 'Enter a project name' : null) },
  });
  useFieldProblems(form, rename.problem);
  const submit = form.onSubmit(async (values) => {
    if ((await rename.run(values)) === undefined) return;
    form.resetDirty();
    notifySuccess('Project renamed.');
    await reload();
  });
  return (
    <Page title="Project" width={760}>
      <Card>
        <form onSubmit={submit} noValidate>
          <Stack>
            <FormProblem problem={rename.problem} fields={['name']} />
            <TextInput
              label="Name"
              maxLength={200}
              autoComplete="off"
              readOnly={!manages}
              {...form.getInputProps('name')}
            />
            <CopyField label="Project ID, for the X-Project-Id header" value={id} />
            {manages && (
              <Group justify="flex-end">
                <Button type="submit" loading={rename.running} disabled={!form.isDirty()}>
                  Save
                </Button>
              </Group>
            )}
          </Stack>
        </form>
      </Card>
      <BrandColor />
      <PostalAddress />
      <Tracking />
      <Retention />
    </Page>
  );
}
