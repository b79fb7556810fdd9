import { Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { BundleEditor } from '../audience/segment-builder.tsx';
import { fieldChoices, filterOf, newBundle, newCondition, treeOf } from '../audience/segment-tree.ts';
import type { Choices } from './choices.ts';
import type { Duration } from './definition-types.ts';

const UNITS = ['days', 'hours', 'minutes'] as const;

/** A length of time. */
export function DurationInput({
  label,
  value,
  onChange,
}: {
  label: string;
  value: Duration;
  onChange: (value: Duration) => void;
}) {
  return (
    <Group gap="xs" role="group" aria-label={label} align="flex-end">
      {UNITS.map((unit) => (
        <NumberInput
          key={unit}
          label={unit[0]?.toUpperCase() + unit.slice(1)}
          w={100}
          min={0}
          allowDecimal={false}
          value={value[unit] ?? ''}
          onChange={(given) => onChange({ ...value, [unit]: given === '' ? undefined : Number(given) })}
        />
      ))}
    </Group>
  );
}

/** A filter of contacts. Reports undefined when it is removed, and null while it is incomplete. */
export function ContactFilter({
  filter,
  choices,
  onChange,
}: {
  filter: Record<string, unknown> | undefined;
  choices: Choices;
  onChange: (filter: Record<string, unknown> | undefined | null) => void;
}) {
  const [tree, setTree] = useState(() => (filter === undefined ? undefined : treeOf(filter)));
  const change = (next: typeof tree) => {
    setTree(next);
    onChange(next === undefined ? undefined : (filterOf(next) ?? null));
  };
  if (tree === undefined) {
    return (
      <Group>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => change(newBundle('all', [newCondition()]))}
        >
          Add conditions on the contact
        </Button>
      </Group>
    );
  }
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        Conditions on the contact
      </Text>
      <BundleEditor
        bundle={tree}
        fields={fieldChoices(choices.fields)}
        onChange={change}
        onRemove={() => change(undefined)}
      />
    </Stack>
  );
}
