import { Button, Card, Group, NumberInput, Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { countOf, formatPercent, list } from '../../components/numbers.ts';
import { DescriptionList } from '../../components/description-list.tsx';
import { ConflictAlert } from '../../components/conflict-alert.tsx';
import { FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { useVersionedForm } from '../../data/versioned-form.ts';
import { graphql } from '../../generated/gql.ts';
import type { AbTestMetric } from '../../generated/graphql.ts';
import { METRICS } from './ab-test-labels.ts';
import type { AbTestRow } from './ab-test-row.ts';

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
          <SettingsForm test={test} />
        ) : (
          <DescriptionList
            items={[
              ['Variants', variants.length],
              ['Sample', `${formatPercent(samplePercent)} of the audience`],
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

const LABELS = {
  variants: 'variants',
  samplePercent: 'sample',
  metric: 'what decides',
  durationHours: 'duration',
};

function SettingsForm({ test }: { test: AbTestRow }) {
  const { id, version, variants, samplePercent, metric, durationHours, updatedAt } = test;
  const update = useApiMutation(UPDATE);
  const edited = useVersionedForm(
    { content: { variants: variants.length, samplePercent, metric, durationHours }, version },
    { mutation: update },
  );
  const { content, set, isSaved, conflict, problem } = edited;
  useUnsavedChanges(!isSaved);
  const [isDeleting, setDeleting] = useState(false);
  const removed = variants.slice(content.variants).map(({ label }) => label);
  const save = async () => {
    setDeleting(false);
    await edited.save(async (written, base) => {
      const data = await update.run({ id, input: { ...written, version: Number(base) } });
      if (data !== undefined) notifySuccess('Settings saved.');
      return data?.updateAbTest.version;
    });
  };
  const submit = () => (removed.length > 0 ? setDeleting(true) : void save());
  const isBlank = Object.values<number | string>(content).includes('');
  const numberProps = (name: 'variants' | 'samplePercent' | 'durationHours') => ({
    ...WHOLE,
    value: content[name],
    onChange: (value: number | string) => set({ [name]: value }),
    error: `${content[name]}` === '' ? 'Enter a number' : problem?.fields[name],
  });
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBlank) submit();
        }}
        noValidate
      >
        <Stack>
          <ConflictAlert
            conflict={conflict}
            of={{ editedById: null, editedByName: null, updatedAt }}
            labels={LABELS}
            onKeep={submit}
          />
          <FormProblem problem={problem} fields={Object.keys(LABELS)} />
          <Group align="flex-start" gap="md">
            <NumberInput label="Variants" description="2 to 5" w={150} min={2} max={5} {...numberProps('variants')} />
            <NumberInput
              label="Sample"
              description="Share of the audience"
              suffix="%"
              w={180}
              min={1}
              max={100}
              {...numberProps('samplePercent')}
            />
            <Select
              size="sm"
              label="Decided by"
              description="Rate of accepted messages"
              w={220}
              allowDeselect={false}
              data={Object.entries(METRICS).map(([value, label]) => ({ value: value as AbTestMetric, label }))}
              value={content.metric}
              onChange={(value) => value !== null && set({ metric: value })}
            />
            <NumberInput
              label="Duration in hours"
              description="1 to 168"
              w={180}
              min={1}
              max={168}
              {...numberProps('durationHours')}
            />
          </Group>
          <Group justify="flex-end">
            <Button
              type="submit"
              variant="default"
              loading={update.running}
              disabled={isSaved || isBlank || conflict !== undefined}
            >
              Save settings
            </Button>
          </Group>
        </Stack>
      </form>
      <Confirm
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${removed.length === 1 ? 'variant' : 'variants'} ${list.format(removed)}?`}
        action="Delete"
        running={update.running}
        problem={undefined}
        onConfirm={() => void save()}
      >
        {removed.length === 1 ? 'Its' : 'Their'} content will be lost.
      </Confirm>
    </>
  );
}
