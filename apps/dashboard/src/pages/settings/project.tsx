import { TextInput } from '@mantine/core';
import { usePermission, useProject, useSession } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { CopyField } from '../../components/copy.tsx';
import { required } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { BrandColor } from './brand-color.tsx';
import { DeleteProject } from './delete-project.tsx';
import { PostalAddress } from './postal-address.tsx';
import { Retention } from './retention.tsx';
import { SettingForm } from './setting-form.tsx';
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
  const isOwner = usePermission('own');
  const rename = useApiMutation(RENAME);
  const save = async (values: { name: string }) => {
    const data = await rename.run(values);
    if (data !== undefined) void reload();
    return data;
  };
  return (
    <Page title="Project" width={760}>
      <SettingForm
        values={{ name }}
        validate={{ name: required('Enter a project name') }}
        mutation={rename}
        save={save}
        saved="Project renamed."
      >
        {(form, readOnly) => (
          <>
            <TextInput
              label="Name"
              maxLength={200}
              autoComplete="off"
              readOnly={readOnly}
              {...form.getInputProps('name')}
            />
            <CopyField label="Project ID, for the X-Project-Id header" value={id} />
          </>
        )}
      </SettingForm>
      <BrandColor />
      <PostalAddress />
      <Tracking />
      <Retention />
      {isOwner && <DeleteProject />}
    </Page>
  );
}
