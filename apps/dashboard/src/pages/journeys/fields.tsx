import { ActionIcon, Autocomplete, Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { BundleEditor } from '../audience/segment-builder.tsx';
import { fieldChoices, filterOf, newBundle, newCondition, treeOf } from '../audience/segment-tree.ts';
import type { Choices } from './choices.ts';
import type { Duration, PropertyCondition } from './definition.ts';
import { PROPERTY_OPERATORS } from './summaries.ts';

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

/** The name of a custom event; names that have not been seen yet may be typed. */
export function EventInput({
  label,
  value,
  events,
  onChange,
}: {
  label: string;
  value: string;
  events: readonly string[];
  onChange: (value: string) => void;
}) {
  return (
    <Autocomplete
      size="sm"
      label={label}
      placeholder="order placed"
      data={[...events]}
      value={value}
      onChange={onChange}
    />
  );
}

/** Text as the value that it most likely is: a number, true, false or itself. */
function valueOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Conditions on the properties of an event; all must hold. */
export function PropertyConditions({
  where,
  onChange,
}: {
  where: readonly PropertyCondition[];
  onChange: (where: PropertyCondition[]) => void;
}) {
  const set = (at: number, condition: PropertyCondition | undefined) =>
    onChange(where.flatMap((each, index) => (index !== at ? [each] : condition === undefined ? [] : [condition])));
  return (
    <Stack gap="xs" role="group" aria-label="Conditions on the event">
      {where.map((condition, index) => {
        const takes = PROPERTY_OPERATORS[condition.op]?.takes ?? 'any';
        return (
          <Group key={index} gap="xs" align="flex-end" wrap="nowrap">
            <TextInput
              label={index === 0 ? 'Property' : undefined}
              aria-label="Property"
              placeholder="plan"
              flex={1}
              value={condition.property}
              onChange={(event) => set(index, { ...condition, property: event.currentTarget.value })}
            />
            <Select
              aria-label="Operator"
              w={150}
              allowDeselect={false}
              data={Object.entries(PROPERTY_OPERATORS).map(([value, { word }]) => ({ value, label: word }))}
              value={condition.op}
              onChange={(op) => {
                const { property, value } = condition;
                const next = PROPERTY_OPERATORS[op ?? '']?.takes;
                set(index, { property, op: op ?? 'is', ...(next === 'nothing' ? {} : { value: value ?? '' }) });
              }}
            />
            {takes !== 'nothing' && (
              <TextInput
                aria-label="Value"
                flex={1}
                value={String(condition.value ?? '')}
                onChange={(event) => {
                  const text = event.currentTarget.value;
                  set(index, { ...condition, value: takes === 'text' ? text : valueOf(text) });
                }}
              />
            )}
            <ActionIcon size="lg" aria-label="Remove condition" onClick={() => set(index, undefined)}>
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        );
      })}
      <Group>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...where, { property: '', op: 'is', value: '' }])}
        >
          Add condition on the event
        </Button>
      </Group>
    </Stack>
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
        choices={{ fields: fieldChoices(choices.fields, choices.groups), campaigns: [] }}
        onChange={change}
        onRemove={() => change(undefined)}
      />
    </Stack>
  );
}
