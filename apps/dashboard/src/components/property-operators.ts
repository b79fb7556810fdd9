/** A condition on a property of an event. */
export interface PropertyCondition {
  property: string;
  op: string;
  value?: string | number | boolean | undefined;
}

/** Operators of conditions on properties. */
export const PROPERTY_OPERATORS: Record<string, { label: string; takes: 'any' | 'text' | 'number' | 'nothing' }> = {
  is: { label: 'is', takes: 'any' },
  isNot: { label: 'is not', takes: 'any' },
  contains: { label: 'contains', takes: 'text' },
  notContains: { label: 'does not contain', takes: 'text' },
  moreThan: { label: 'is more than', takes: 'number' },
  lessThan: { label: 'is less than', takes: 'number' },
  atLeast: { label: 'is at least', takes: 'number' },
  atMost: { label: 'is at most', takes: 'number' },
  isSet: { label: 'is set', takes: 'nothing' },
  isNotSet: { label: 'is not set', takes: 'nothing' },
};

/** The value of a condition that takes a number, which may still be text as it was typed, such as `1.50`. */
export const numberIn = (value: PropertyCondition['value']): PropertyCondition['value'] =>
  typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
