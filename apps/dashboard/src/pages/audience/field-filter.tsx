import { Button, NumberInput, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { FieldCondition } from './contact-search.ts';
import type { CustomField } from './field-values.tsx';

const OPERATORS: Record<string, string> = {
  contains: 'contains',
  is: 'is',
  isSet: 'has a value',
  isNotSet: 'has no value',
};

/** The condition in words, such as: City contains “London”. */
export function describeCondition({ field, op, value }: FieldCondition, fields: readonly CustomField[]): string {
  const key = field.slice('customFields.'.length);
  const label = fields.find((each) => each.key === key)?.label ?? key;
  const words = `${label} ${OPERATORS[op] ?? op}`;
  if (value === undefined) return words;
  return `${words} ${typeof value === 'boolean' ? (value ? 'yes' : 'no') : `“${value}”`}`;
}

/** A form for a condition on a custom field. */
export function FieldFilter({
  fields,
  value,
  onApply,
}: {
  fields: readonly CustomField[];
  value: FieldCondition | undefined;
  onApply: (condition: FieldCondition | undefined) => void;
}) {
  const [key, setKey] = useState(value?.field.slice('customFields.'.length) ?? null);
  const [op, setOp] = useState(value?.op ?? 'is');
  const [operand, setOperand] = useState<string | number>(value?.value === undefined ? '' : String(value.value));
  if (fields.length === 0) return null;
  const field = fields.find((each) => each.key === key);
  const operators = field?.type === 'text' ? ['contains', 'is', 'isSet', 'isNotSet'] : ['is', 'isSet', 'isNotSet'];
  const takesValue = op === 'is' || op === 'contains';
  const choose = (next: string | null) => {
    setKey(next);
    setOp(fields.find((each) => each.key === next)?.type === 'text' ? 'contains' : 'is');
    setOperand('');
    if (next === null) onApply(undefined);
  };
  const apply = () => {
    if (field === undefined) return;
    const condition = { field: `customFields.${field.key}`, op };
    onApply(takesValue ? { ...condition, value: typed(field, operand) } : condition);
  };
  return (
    <Stack gap="xs">
      <Select
        label="Custom field"
        placeholder="Any"
        clearable
        searchable
        data={fields.map((each) => ({ value: each.key, label: each.label }))}
        value={key}
        onChange={choose}
        comboboxProps={{ withinPortal: false }}
      />
      {field !== undefined && (
        <>
          <Select
            aria-label="Condition"
            allowDeselect={false}
            data={operators.map((each) => ({ value: each, label: OPERATORS[each] ?? each }))}
            value={op}
            onChange={(next) => setOp(next ?? 'is')}
            comboboxProps={{ withinPortal: false }}
          />
          {takesValue && <Operand field={field} value={operand} onChange={setOperand} />}
          <Button variant="default" disabled={takesValue && operand === ''} onClick={apply}>
            Apply
          </Button>
        </>
      )}
    </Stack>
  );
}

function typed({ type }: CustomField, operand: string | number): string | number | boolean {
  if (type === 'number') return Number(operand);
  return type === 'boolean' ? operand === 'true' : String(operand);
}

function Operand({
  field: { type, options },
  value,
  onChange,
}: {
  field: CustomField;
  value: string | number;
  onChange: (value: string | number) => void;
}) {
  if (type === 'select' || type === 'boolean') {
    const choices =
      type === 'select'
        ? options.map((option) => ({ value: option, label: option }))
        : [
            { value: 'true', label: 'Yes' },
            { value: 'false', label: 'No' },
          ];
    return (
      <Select
        aria-label="Value"
        placeholder="Choose"
        data={choices}
        value={value === '' ? null : String(value)}
        onChange={(next) => onChange(next ?? '')}
        comboboxProps={{ withinPortal: false }}
      />
    );
  }
  if (type === 'number') return <NumberInput aria-label="Value" value={value} onChange={onChange} />;
  return (
    <TextInput
      aria-label="Value"
      {...(type === 'date' ? { type: 'date' } : {})}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
