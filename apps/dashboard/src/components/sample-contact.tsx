import { Group, Select, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useApiQuery } from '../data/api-query.ts';
import { graphql } from '../generated/gql.ts';
import { useChosenContact } from './use-sample-contact.ts';

const FIND = graphql(`
  query SampleContacts($search: String) {
    contacts(first: 20, search: $search) {
      nodes {
        id
        email
      }
    }
  }
`);

const TYPING_MS = 250;

interface SampleContactProps {
  label: string;
  description?: string;
  /** Shows the label before the field, in a row of controls. */
  inline?: boolean;
}

/** Chooses the contact whose values previews and tests show. */
export function SampleContact({ label, description, inline = false }: SampleContactProps) {
  const { contact: chosen, choose } = useChosenContact();
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim(), TYPING_MS);
  // While a contact is chosen, the field holds its address, which is not a search.
  const isSearch = search !== '' && search !== chosen?.email;
  const { data } = useApiQuery(FIND, { search: isSearch ? search : null });
  const found = data?.contacts.nodes ?? [];
  const options = chosen === undefined || found.some((each) => each.id === chosen.id) ? found : [chosen, ...found];
  const field = (
    <Select
      size={inline ? 'xs' : 'sm'}
      {...(inline ? { 'aria-label': label, w: 190 } : { label, description })}
      placeholder="Sample values"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Use sample values' }}
      comboboxProps={{ width: 300, position: 'bottom-start' }}
      nothingFoundMessage={data === undefined || typed.trim() !== search ? 'Searching…' : 'No contact found'}
      // The server searches.
      filter={({ options: all }) => all}
      data={options.map(({ id: value, email }) => ({ value, label: email }))}
      value={chosen?.id ?? null}
      onChange={choose}
      onSearchChange={setTyped}
    />
  );
  if (!inline) return field;
  return (
    <Group gap={8} wrap="nowrap">
      <Text size="sm" aria-hidden className="nowrap">
        {label}
      </Text>
      {field}
    </Group>
  );
}
