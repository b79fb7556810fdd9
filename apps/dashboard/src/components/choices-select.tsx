import { MultiSelect, type MultiSelectProps } from '@mantine/core';

interface Choice {
  value: string;
  label: string;
}

/**
 * Several of a whole list, chosen by name. Until `choices` are loaded it shows no ids, does not say that nothing is chosen, and can't be
 * changed.
 */
export function ChoicesSelect({
  choices,
  value = [],
  placeholder,
  readOnly = false,
  ...props
}: Omit<MultiSelectProps, 'data' | 'value'> & { choices: Choice[] | undefined; value?: string[] }) {
  const isLoaded = choices !== undefined;
  const hint = value.length === 0 ? placeholder : undefined;
  return (
    <MultiSelect
      {...props}
      size="sm"
      searchable
      data={choices ?? []}
      value={isLoaded ? value : []}
      placeholder={isLoaded ? hint : 'Loading…'}
      readOnly={readOnly || !isLoaded}
    />
  );
}
