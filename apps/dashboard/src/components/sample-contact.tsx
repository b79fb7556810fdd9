import { Group, Select, Text } from '@mantine/core';
import { useDebouncedValue, useSessionStorage } from '@mantine/hooks';
import { useState } from 'react';
import { useProject } from '../app/session.tsx';
import { useApiQuery } from '../data/api-query.ts';
import { graphql } from '../generated/gql.ts';

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

const SAMPLE = graphql(`
  query SampleContact($id: ID!) {
    contact(id: $id) {
      id
      name
      hasName
      email
      customFields
    }
  }
`);

const POSTAL_ADDRESS = graphql(`
  query PostalAddress {
    projects {
      id
      postalAddress
    }
  }
`);

/** The project's postal address; undefined while loading. */
export function usePostalAddress(): string | null | undefined {
  const { id } = useProject();
  return useApiQuery(POSTAL_ADDRESS, {}).data?.projects.find((project) => project.id === id)?.postalAddress;
}

/** Shown until a contact is chosen. */
const SOMEONE = { name: 'Ada Lovelace', hasName: true, email: 'ada@example.com', customFields: {} };

/** The contact whose values previews and tests show, as chosen in this tab; null for sample values. */
function useChoice() {
  const { id } = useProject();
  return useSessionStorage<string | null>({ key: `postroom-sample-contact-${id}`, defaultValue: null });
}

/** The chosen contact's id, and the placeholder values of previews. */
export function useSampleContact(): { contactId: string | null; values: Record<string, unknown> } {
  const [id] = useChoice();
  const address = usePostalAddress()?.replaceAll(/,?\n/g, ', ');
  const contact = useApiQuery(SAMPLE, { id: id ?? '' }, { pause: id === null }).data?.contact;
  const { name, hasName, email, customFields } = contact ?? SOMEONE;
  const fields = typeof customFields === 'object' ? customFields : {};
  const values = {
    ...fields,
    name: hasName ? name : null,
    email,
    unsubscribe_url: '#',
    ...(address && { postal_address: address }),
  };
  return { contactId: contact?.id ?? null, values };
}

const TYPING_MS = 250;

interface SampleContactProps {
  label: string;
  description?: string;
  /** Shows the label before the field, in a row of controls. */
  inline?: boolean;
}

/** Chooses the contact whose values previews and tests show. */
export function SampleContact({ label, description, inline = false }: SampleContactProps) {
  const [id, choose] = useChoice();
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim(), TYPING_MS);
  const chosen = useApiQuery(SAMPLE, { id: id ?? '' }, { pause: id === null }).data?.contact;
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
