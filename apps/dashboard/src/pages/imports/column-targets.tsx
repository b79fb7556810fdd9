import { Button, Select, Text } from '@mantine/core';
import { IconForms } from '@tabler/icons-react';
import { Section } from '../../components/page.tsx';
import { DataTable } from '../../components/table.tsx';
import type { CustomField } from '../audience/field-values.tsx';
import { type FilePreview, samplesOf } from './file-preview.ts';
import { canBecomeField, hasDatesAsText, newFieldOf, type Target } from './mapping.ts';

/** The column mapping, with sample values. */
export function ColumnTargets({
  beginning,
  fields,
  targets,
  onChange,
}: {
  beginning: FilePreview;
  fields: CustomField[];
  targets: Target[];
  onChange: (targets: Target[]) => void;
}) {
  const { names, isRow } = beginning.header;
  const rows = names.map((name, column) => ({ name, column, target: targets[column] ?? ('none' as Target) }));
  const change = (column: number, target: Target) =>
    onChange(targets.map((before, index) => (index === column ? target : before)));
  const left = rows.filter(({ name, target }) => target === 'none' && canBecomeField(name));
  const makeAll = () =>
    onChange(rows.map(({ name, target }) => (target === 'none' && canBecomeField(name) ? 'new' : target)));
  return (
    <Section
      title="Map columns"
      about={isRow ? 'The file has no header row, so its columns have no names.' : undefined}
      actions={
        left.length > 0 && (
          <Button variant="default" leftSection={<IconForms size={16} aria-hidden />} onClick={makeAll}>
            {left.length === 1 ? 'Create a field for the other' : `Create fields for the other ${left.length}`}
          </Button>
        )
      }
    >
      <DataTable
        label="File columns"
        rows={rows}
        keyOf={({ column }) => String(column)}
        columns={[
          {
            title: 'Column',
            cell: (row) => (
              <Text size="sm" fw={550} className="breakable">
                {row.name}
              </Text>
            ),
          },
          {
            title: 'Sample values',
            from: 'sm',
            cell: ({ column }) => (
              <Text size="sm" c="dimmed" lineClamp={2} className="breakable">
                {samplesOf(beginning, column).join(', ') || 'Blank'}
              </Text>
            ),
          },
          {
            title: 'Maps to',
            width: '45%',
            cell: ({ name, column, target }) => (
              <Select
                aria-label={`${name} maps to`}
                allowDeselect={false}
                data={[
                  { value: 'none', label: 'Not imported' },
                  { value: 'email', label: 'Address' },
                  { value: 'name', label: 'Name' },
                  ...fields.map(({ key, label }) => ({ value: `field:${key}`, label })),
                  { value: 'new', label: `New field: ${newFieldOf(beginning, column)}` },
                ]}
                value={target}
                onChange={(value) => change(column, (value ?? 'none') as Target)}
                description={
                  target === 'new' && hasDatesAsText(beginning, column)
                    ? 'Segments can’t compare these dates: not all are written as 2026-03-04, so the field becomes text.'
                    : undefined
                }
                inputWrapperOrder={['label', 'input', 'description', 'error']}
              />
            ),
          },
        ]}
      />
    </Section>
  );
}
