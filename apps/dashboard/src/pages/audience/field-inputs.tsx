import { NumberInput, Select, Stack, TextInput } from '@mantine/core';
import { type CustomField, ofField, type Values } from './field-values.tsx';

interface FieldInputsProps {
  fields: CustomField[];
  values: Values;
  errors: Record<string, string>;
  onChange: (values: Values) => void;
}

/** An input per custom field, by type. Clearing one unsets the value. */
export function FieldInputs({ fields, values, errors, onChange }: FieldInputsProps) {
  return (
    <Stack gap="sm">
      {fields.map((field) => (
        <FieldInput
          key={field.key}
          field={field}
          value={ofField(values, field.key)}
          error={ofField(errors, field.key)}
          onChange={(value) => onChange(withValue(values, field.key, value))}
        />
      ))}
    </Stack>
  );
}

function withValue(values: Values, key: string, value: unknown): Values {
  const { [key]: _before, ...others } = values;
  return value === null || value === '' ? others : { ...others, [key]: value };
}

function FieldInput({
  field: { label, type, options },
  value,
  error,
  onChange,
}: {
  field: CustomField;
  value: unknown;
  error: string | undefined;
  onChange: (value: unknown) => void;
}) {
  const text = value === undefined || value === null ? '' : String(value as string | number | boolean);
  switch (type) {
    case 'number':
      return (
        <NumberInput
          size="sm"
          label={label}
          value={text}
          error={error}
          onChange={(next) => onChange(next)}
          hideControls
        />
      );
    case 'boolean':
      return (
        <Select
          label={label}
          placeholder="Unknown"
          clearable
          data={[
            { value: 'true', label: 'Yes' },
            { value: 'false', label: 'No' },
          ]}
          value={text === '' ? null : text}
          error={error}
          onChange={(next) => onChange(next === null ? null : next === 'true')}
        />
      );
    case 'select':
      return (
        <Select
          label={label}
          placeholder="None"
          clearable
          data={text === '' || options.includes(text) ? options : [...options, text]}
          value={text === '' ? null : text}
          error={error}
          onChange={onChange}
        />
      );
    case 'date':
      return (
        <TextInput
          type="date"
          label={label}
          value={text.slice(0, 10)}
          error={error}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case 'text':
      return (
        <TextInput label={label} value={text} error={error} onChange={(event) => onChange(event.currentTarget.value)} />
      );
  }
}
