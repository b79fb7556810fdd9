import './segment-builder.css';
import {
  ActionIcon,
  Box,
  Button,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { EventInput, PropertyConditions } from '../../components/event-conditions.tsx';
import { RecordSelect, RecordsSelect } from '../../components/record-select.tsx';
import { MailInputs } from './mail-inputs.tsx';
import {
  type Bundle,
  type Condition,
  type FieldChoice,
  isFirstOrLast,
  isMailField,
  newBundle,
  newCondition,
  type Node,
  OPERATORS,
  valueFor,
} from './segment-tree.ts';

/** Builds a segment filter. The API allows eight levels; the UI allows four for readability. */
const MAX_DEPTH = 4;

export function BundleEditor({
  bundle,
  fields,
  path = [],
  onChange,
  onRemove,
}: {
  bundle: Bundle;
  fields: readonly FieldChoice[];
  /** The positions of the bundle and of those around it, from the outermost; empty for the whole filter. */
  path?: readonly number[];
  onChange: (bundle: Bundle) => void;
  onRemove?: () => void;
}) {
  const replace = (at: number, node: Node | undefined) =>
    onChange({
      ...bundle,
      children: bundle.children.flatMap((child, index) => (index !== at ? [child] : node === undefined ? [] : [node])),
    });
  const add = (node: Node) => onChange({ ...bundle, children: [...bundle.children, node] });
  return (
    <Box
      className="bundle"
      role="group"
      aria-label={path.length === 0 ? 'Conditions' : `Condition group ${path.join('.')}`}
    >
      <Stack gap="sm">
        <Group gap="xs" justify="space-between">
          <Group gap="xs" flex="1 1 8rem">
            <Select
              aria-label="Match"
              size="xs"
              w={130}
              allowDeselect={false}
              data={[
                { value: 'all', label: 'All of' },
                { value: 'any', label: 'Any of' },
                { value: 'none', label: 'None of' },
              ]}
              value={bundle.match}
              onChange={(match) => onChange({ ...bundle, match: (match ?? 'all') as Bundle['match'] })}
            />
            <Text size="sm" c="dimmed">
              these {bundle.match === 'all' ? 'hold' : 'holds'}
            </Text>
          </Group>
          {onRemove && <RemoveButton label="Remove condition group" onClick={onRemove} />}
        </Group>
        {bundle.children.map((child, index) =>
          child.kind === 'bundle' ? (
            <BundleEditor
              key={child.id}
              bundle={child}
              fields={fields}
              path={[...path, index + 1]}
              onChange={(next) => replace(index, next)}
              onRemove={() => replace(index, undefined)}
            />
          ) : (
            <ConditionEditor
              key={child.id}
              label={`Condition ${[...path, index + 1].join('.')}`}
              condition={child}
              fields={fields}
              onChange={(next) => replace(index, next)}
              onRemove={() => replace(index, undefined)}
            />
          ),
        )}
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => add(newCondition())}
          >
            Add condition
          </Button>
          {path.length < MAX_DEPTH - 1 && (
            <Button
              size="compact-sm"
              variant="subtle"
              color="gray"
              onClick={() => add(newBundle(bundle.match === 'all' ? 'any' : 'all', [newCondition()]))}
            >
              Add condition group
            </Button>
          )}
        </Group>
      </Stack>
    </Box>
  );
}

function RemoveButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <ActionIcon aria-label={label} onClick={onClick} size="lg">
      <IconTrash size={16} aria-hidden />
    </ActionIcon>
  );
}

function ConditionEditor({
  label,
  condition,
  fields,
  onChange,
  onRemove,
}: {
  /** Tells its controls from those of other conditions. */
  label: string;
  condition: Condition;
  fields: readonly FieldChoice[];
  onChange: (condition: Condition) => void;
  onRemove: () => void;
}) {
  const choice = fields.find(({ field }) => field === condition.field);
  const groups = [...new Set(fields.map(({ group }) => group))];
  const chooseField = (field: string | null) => {
    const next = fields.find((each) => each.field === field);
    const [first] = next?.operators ?? [];
    if (next === undefined || first === undefined) return;
    const { kind, id } = condition;
    onChange({ kind, id, field: next.field, op: first, value: undefined });
  };
  const chooseOp = (op: string | null) => {
    if (op === null) return;
    onChange({ ...condition, op, value: valueFor(op, condition, choice) });
  };
  return (
    <Group gap="xs" align="flex-start" role="group" aria-label={label}>
      <Group gap="xs" flex="1 1 8rem" align="flex-start">
        <Select
          aria-label="Field"
          w={{ base: '100%', xs: 170 }}
          searchable
          allowDeselect={false}
          data={groups.map((group) => ({
            group,
            items: fields.filter((each) => each.group === group).map(({ field, label }) => ({ value: field, label })),
          }))}
          value={condition.field}
          onChange={chooseField}
          error={choice === undefined ? 'Deleted field' : undefined}
        />
        {condition.field === 'event' && (
          <EventInput
            aria-label="Event"
            w={{ base: '100%', xs: 200 }}
            value={condition.event ?? ''}
            onChange={(event) => onChange({ ...condition, event })}
          />
        )}
        <Select
          aria-label="Operator"
          w={{ base: '100%', xs: 190 }}
          allowDeselect={false}
          data={(choice?.operators ?? [condition.op]).map((op) => ({ value: op, label: OPERATORS[op]?.label ?? op }))}
          value={condition.op}
          onChange={chooseOp}
        />
        {choice !== undefined && <ValueInput condition={condition} choice={choice} onChange={onChange} />}
        {condition.field === 'event' && <EventInputs condition={condition} onChange={onChange} />}
        {isMailField(condition.field) && <MailInputs condition={condition} onChange={onChange} />}
      </Group>
      <RemoveButton label="Remove condition" onClick={onRemove} />
    </Group>
  );
}

/** How many events, and conditions on their properties. */
function EventInputs({ condition, onChange }: { condition: Condition; onChange: (condition: Condition) => void }) {
  const { op, times = 1, where = [] } = condition;
  return (
    <>
      {!isFirstOrLast(op) && (
        <NumberInput
          aria-label="At least"
          prefix="at least "
          suffix={times === 1 ? ' time' : ' times'}
          w={{ base: '100%', xs: 150 }}
          min={1}
          max={10_000}
          allowDecimal={false}
          value={times}
          onChange={(given) => onChange({ ...condition, times: number(given) ?? 1 })}
        />
      )}
      <Box w="100%">
        <PropertyConditions
          event={condition.event}
          where={where}
          onChange={(next) => onChange({ ...condition, where: next })}
        />
      </Box>
    </>
  );
}

function ValueInput({
  condition,
  choice: { input },
  onChange,
}: {
  condition: Condition;
  choice: FieldChoice;
  onChange: (condition: Condition) => void;
}) {
  const { value } = condition;
  const set = (next: unknown) => onChange({ ...condition, value: next });
  const takes = OPERATORS[condition.op]?.takes;
  const shared = { 'aria-label': 'Value', size: 'sm', w: { base: '100%', xs: 250 } } as const;
  const text = value === undefined || value === null ? '' : String(value as string | number | boolean);
  const list = Array.isArray(value) ? value.map(String) : [];
  if (takes === 'nothing') return null;
  if (takes === 'days')
    return (
      <NumberInput {...shared} suffix=" days" min={1} max={3650} value={text} onChange={(days) => set(number(days))} />
    );
  if (takes === 'day' || (input.kind === 'date' && takes === 'one'))
    return (
      <TextInput
        {...shared}
        type="date"
        value={text.slice(0, 10)}
        onChange={(event) => set(event.currentTarget.value)}
      />
    );
  if (takes === 'many') {
    if (input.kind === 'record') return <RecordsSelect {...shared} of={input.of} value={list} onChange={set} />;
    if (input.kind === 'choice')
      return <MultiSelect {...shared} searchable data={input.choices} value={list} onChange={set} />;
    if (input.kind !== 'number') return <TagsInput {...shared} value={list} onChange={set} />;
    const numbers = (values: string[]) => values.map(Number).filter(Number.isFinite);
    return <TagsInput {...shared} placeholder="Numbers" value={list} onChange={(values) => set(numbers(values))} />;
  }
  if (input.kind === 'record') return <RecordSelect {...shared} of={input.of} value={text} onChange={set} />;
  if (input.kind === 'choice')
    return <Select {...shared} searchable data={input.choices} value={text === '' ? null : text} onChange={set} />;
  if (input.kind === 'boolean') {
    const data = [
      { value: 'true', label: 'Yes' },
      { value: 'false', label: 'No' },
    ];
    return (
      <Select
        {...shared}
        allowDeselect={false}
        data={data}
        value={text === '' ? null : text}
        onChange={(next) => set(next === 'true')}
      />
    );
  }
  if (input.kind === 'number') return <NumberInput {...shared} value={text} onChange={(next) => set(number(next))} />;
  return <TextInput {...shared} value={text} onChange={(event) => set(event.currentTarget.value)} />;
}

/** Number inputs yield a string while empty. */
const number = (value: number | string | bigint) => (value === '' ? undefined : Number(value));
