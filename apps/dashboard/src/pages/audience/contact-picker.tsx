import { Checkbox, Group, Pill, ScrollArea, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { SearchBox } from '../../components/search-box.tsx';
import { stateOf } from '../../components/states.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { PickContactsQuery } from '../../generated/graphql.ts';
import { labelOf } from './contact-link.tsx';

const PICK = graphql(`
  query PickContacts($search: String) {
    contacts(first: 20, search: $search) {
      nodes {
        id
        name
        hasName
        email
      }
      pageInfo {
        hasNextPage
      }
    }
  }
`);

export type Picked = PickContactsQuery['contacts']['nodes'][number];

/** Finds contacts by name or address, and picks some. */
export function ContactPicker({
  label = 'Members',
  picked,
  error,
  onPick,
}: {
  /** What the contacts are picked as. */
  label?: string;
  picked: readonly Picked[];
  error?: string | undefined;
  onPick: (picked: Picked[]) => void;
}) {
  const [search, setSearch] = useState<string>();
  const read = useApiQuery(PICK, { search: search ?? null });
  const found = read.data?.contacts;
  const isPicked = (id: string) => picked.some((each) => each.id === id);
  const toggle = (contact: Picked) =>
    onPick(isPicked(contact.id) ? picked.filter(({ id }) => id !== contact.id) : [...picked, contact]);
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      {picked.length > 0 && (
        <Pill.Group aria-label="Picked contacts">
          {picked.map((contact) => (
            <Pill
              key={contact.id}
              size="md"
              withRemoveButton
              onRemove={() => toggle(contact)}
              removeButtonProps={{ 'aria-label': `Remove ${labelOf(contact)}`, 'aria-hidden': false, tabIndex: 0 }}
            >
              {labelOf(contact)}
            </Pill>
          ))}
        </Pill.Group>
      )}
      <Group>
        <SearchBox value={search ?? ''} label="Search contacts by name or address" onSearch={setSearch} />
      </Group>
      <ScrollArea.Autosize mah={220} type="auto" scrollbars="y">
        <Stack gap={4} py={4}>
          {found?.nodes.map((contact) => (
            <Checkbox
              key={contact.id}
              className="breakable"
              label={labelOf(contact)}
              {...(contact.hasName ? { description: contact.email } : {})}
              checked={isPicked(contact.id)}
              onChange={() => toggle(contact)}
            />
          ))}
        </Stack>
      </ScrollArea.Autosize>
      <Text size="sm" c="dimmed" role="status">
        {found === undefined && stateOf(read)}
        {found?.nodes.length === 0 && 'No contact matches. Only existing contacts can be picked.'}
        {found?.pageInfo.hasNextPage === true && 'The 20 newest matches are shown. Search to find others.'}
      </Text>
      {error !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
    </Stack>
  );
}
