import { Text } from '@mantine/core';
import { formatUtcDay } from '../../components/when.tsx';
import type { CustomFieldsQuery, CustomFieldType } from '../../generated/graphql.ts';
import { graphql } from '../../generated/gql.ts';

export const CUSTOM_FIELDS = graphql(`
  query CustomFields {
    customFields(first: 200) {
      nodes {
        id
        key
        label
        type
        options
        createdAt
      }
    }
  }
`);

export type CustomField = CustomFieldsQuery['customFields']['nodes'][number];

/** Whether values of a field can be names of time zones. */
export const mayHoldTimeZones = ({ type }: Pick<CustomField, 'type'>) => type === 'text' || type === 'select';

/** The types of custom fields, as users read them. */
export const FIELD_TYPES: Record<CustomFieldType, string> = {
  text: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  date: 'Date',
  select: 'Single choice',
};

export type Values = Record<string, unknown>;

const number = new Intl.NumberFormat(undefined);

const isEmpty = (value: unknown) => value === undefined || value === null || value === '';

/** What an object has for a field; undefined if nothing. A key may be a name that every object has, such as `constructor`. */
export const ofField = <Value,>(values: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(values, key) ? values[key] : undefined;

/** Whether a contact has no value of a field. */
export const lacksValue = (field: CustomField, values: unknown) => isEmpty(ofField(values as Values, field.key));

/** Formats a custom field value. */
export function FieldValue({ of: field, values }: { of: CustomField; values: unknown }) {
  const value = ofField(values as Values, field.key);
  if (isEmpty(value))
    return (
      <Text span c="dimmed" size="sm">
        –
      </Text>
    );
  // Dates must not wrap; text may.
  return <span className={field.type === 'date' ? 'nowrap' : 'field-text'}>{textOf(field, value)}</span>;
}

function textOf({ type }: CustomField, value: unknown): string {
  if (type === 'boolean') return value === true ? 'Yes' : 'No';
  if (type === 'number' && typeof value === 'number') return number.format(value);
  if (type === 'date' && typeof value === 'string' && !Number.isNaN(Date.parse(value))) return formatUtcDay(value);
  return String(value);
}
