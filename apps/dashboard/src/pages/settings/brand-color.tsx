import '@mantine/core/styles/ColorPicker.css';
import '@mantine/core/styles/ColorInput.css';
import { Button, Card, ColorInput, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMay, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem, useFieldProblems } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { Logo } from './logo.tsx';

const BRAND_COLOR = graphql(`
  query BrandColor {
    projects {
      id
      brandColor
      logoUrl
    }
  }
`);

const SET = graphql(`
  mutation SetBrandColor($color: String) {
    setBrandColor(color: $color) {
      id
    }
  }
`);

/** The logo and color of recipient-facing pages. */
export function BrandColor() {
  const { id } = useProject();
  const projects = useApiQuery(BRAND_COLOR, {});
  return (
    <Section title="Branding" about="How recipient-facing pages look, such as the unsubscribe page.">
      <QueryResult of={projects}>
        {(data) => {
          const project = data.projects.find((each) => each.id === id);
          return (
            <Stack>
              <Logo url={project?.logoUrl ?? null} />
              <ColorForm color={project?.brandColor ?? ''} />
            </Stack>
          );
        }}
      </QueryResult>
    </Section>
  );
}

function ColorForm({ color: known }: { color: string }) {
  const manages = useMay()('manage');
  const set = useApiMutation(SET);
  const form = useForm({ initialValues: { color: known } });
  useFieldProblems(form, set.problem);
  const submit = form.onSubmit(async ({ color }) => {
    if ((await set.run({ color: color === '' ? null : color })) === undefined) return;
    form.resetDirty();
    notifySuccess('Brand color saved.');
  });
  return (
    <Card>
      <form onSubmit={submit} noValidate>
        <Stack>
          <FormProblem problem={set.problem} fields={['color']} />
          <ColorInput
            label="Brand color"
            description="Leave blank for the default."
            placeholder="#1f5eff"
            format="hex"
            fixOnBlur={false}
            withEyeDropper={false}
            readOnly={!manages}
            {...form.getInputProps('color')}
          />
          {manages && (
            <Group justify="flex-end">
              <Button type="submit" loading={set.running} disabled={!form.isDirty()}>
                Save
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Card>
  );
}
