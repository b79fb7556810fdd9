import '@mantine/core/styles/ColorPicker.css';
import '@mantine/core/styles/ColorInput.css';
import { ColorInput, Stack } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { Logo } from './logo.tsx';
import { SettingForm } from './setting-form.tsx';

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
  const set = useApiMutation(SET);
  return (
    <SettingForm
      values={{ color: known }}
      mutation={set}
      save={({ color }) => set.run({ color: color === '' ? null : color })}
      saved="Brand color saved."
    >
      {(form, readOnly) => (
        <ColorInput
          label="Brand color"
          description="Leave blank for the default."
          placeholder="#1f5eff"
          format="hex"
          fixOnBlur={false}
          withEyeDropper={false}
          readOnly={readOnly}
          {...form.getInputProps('color')}
        />
      )}
    </SettingForm>
  );
}
