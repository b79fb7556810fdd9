import { Button, Card, ColorInput, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMay, useProject } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { useRead } from '../../data/read.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem, useFieldProblems } from '../../components/form.tsx';
import { tell } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { Answer } from '../../components/states.tsx';

const BRAND_COLOR = graphql(`
  query BrandColor {
    projects {
      id
      brandColor
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

/** The colour of pages that recipients see. */
export function BrandColor() {
  const { id } = useProject();
  const projects = useRead(BRAND_COLOR, {});
  return (
    <Section title="Branding" about="How recipient-facing pages look, such as the unsubscribe page.">
      <Answer of={projects}>
        {(data) => <ColorForm color={data.projects.find((project) => project.id === id)?.brandColor ?? ''} />}
      </Answer>
    </Section>
  );
}

function ColorForm({ color: known }: { color: string }) {
  const manages = useMay()('manage');
  const set = useChange(SET);
  const form = useForm({ initialValues: { color: known } });
  useFieldProblems(form, set.problem);
  const submit = form.onSubmit(async ({ color }) => {
    if ((await set.run({ color: color === '' ? null : color })) === undefined) return;
    form.resetDirty();
    tell('Brand color saved.');
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
