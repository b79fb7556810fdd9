/** A condition on a property of an event. */
export interface PropertyCondition {
  property: string;
  op: string;
  value?: string | number | boolean | undefined;
}

/** Operators of conditions on properties. */
export const PROPERTY_OPERATORS: Record<string, { word: string; takes: 'any' | 'text' | 'number' | 'nothing' }> = {
  is: { word: 'is', takes: 'any' },
  isNot: { word: 'is not', takes: 'any' },
  contains: { word: 'contains', takes: 'text' },
  notContains: { word: 'does not contain', takes: 'text' },
  moreThan: { word: 'is more than', takes: 'number' },
  lessThan: { word: 'is less than', takes: 'number' },
  atLeast: { word: 'is at least', takes: 'number' },
  atMost: { word: 'is at most', takes: 'number' },
  isSet: { word: 'is set', takes: 'nothing' },
  isNotSet: { word: 'is not set', takes: 'nothing' },
};
