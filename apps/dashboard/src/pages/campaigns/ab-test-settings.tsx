import { Button, Card, Group, NumberInput, Select } from '@mantine/core';
import { usePermission } from '../../app/session.tsx';
import { DescriptionList } from '../../components/description-list.tsx';
import { ApiForm, required } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { AbTestMetric } from '../../generated/graphql.ts';
import { METRICS } from './ab-test-labels.ts';
import type { AbTestRow } from './ab-test.tsx';
import { countOf } from './campaign-labels.ts';

const UPDATE = graphql(`
  mutation UpdateAbTest($id: ID!, $input: UpdateAbTestInput!) {
    updateAbTest(id: $id, input: $input) {
      id
      version
    }
  }
`);

/** The settings of a test: a form until it is started. */
export function AbTestSettings({ test }: { test: AbTestRow }) {
  const canWrite = usePermission('write');
  const { samplePercent, metric, durationHours, variants } = test;
  return (
    <Section title="Settings">
      <Card>
        {test.status === 'draft' && canWrite ? (
          <SettingsForm key={test.version} test={test} />
        ) : (
          <DescriptionList
            items={[
              ['Variants', variants.length],
              ['Sample', `${samplePercent} % of the audience`],
              ['Decided by', METRICS[metric]],
              ['Duration', countOf(durationHours, 'hour')],
            ]}
          />
        )}
      </Card>
    </Section>
  );
}

/** The fields hold whole numbers, and an empty text while they are blank. */
const WHOLE = { size: 'sm', allowDecimal: false } as const;

const requireNumber = required('Enter a number');

function SettingsForm({ test: { id, version, variants, samplePercent, metric, durationHours } }: { test: AbTestRow }) {
  const update = useApiMutation(UPDATE);
  return (
    <ApiForm
      values={{ variants: variants.length, samplePercent, metric, durationHours }}
      validate={{ variants: requireNumber, samplePercent: requireNumber, durationHours: requireNumber }}
      mutation={update}
      save={async (values) => {
        if ((await update.run({ id, input: { ...values, version } })) !== undefined) notifySuccess('Settings saved.');
      }}
      buttons={(form) => (
        <Group justify="flex-end">
          <Button type="submit" variant="default" loading={update.running} disabled={!form.isDirty()}>
            Save settings
          </Button>
        </Group>
      )}
    >
      {(form) => (
        <Group align="flex-start" gap="md">
          <NumberInput
            {...WHOLE}
            label="Variants"
            description="2 to 5"
            w={150}
            min={2}
            max={5}
            {...form.getInputProps('variants')}
          />
          <NumberInput
            {...WHOLE}
            label="Sample"
            description="Share of the audience"
            suffix=" %"
            w={180}
            min={1}
            max={100}
            {...form.getInputProps('samplePercent')}
          />
          <Select
            size="sm"
            label="Decided by"
            description="Rate of accepted messages"
            w={220}
            allowDeselect={false}
            data={Object.entries(METRICS).map(([value, label]) => ({ value: value as AbTestMetric, label }))}
            {...form.getInputProps('metric')}
          />
          <NumberInput
            {...WHOLE}
            label="Duration in hours"
            description="1 to 168"
            w={180}
            min={1}
            max={168}
            {...form.getInputProps('durationHours')}
          />
        </Group>
      )}
    </ApiForm>
  );
}
