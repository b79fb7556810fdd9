import { ActionIcon, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useEffect, useState } from 'react';

const TYPING_MS = 250;

/** A search field that applies its text when typing pauses. */
export function SearchBox({
  value,
  label,
  width = 420,
  onSearch,
}: {
  value: string;
  label: string;
  /** The maximum width, in pixels. */
  width?: number;
  onSearch: (text: string | undefined) => void;
}) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const search = useDebouncedCallback(
    (text: string) => onSearch(text.trim() === '' ? undefined : text.trim()),
    TYPING_MS,
  );
  const type = (text: string) => {
    setTyped(text);
    search(text);
  };
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        typed === '' ? undefined : (
          <ActionIcon size="sm" aria-label="Clear search" onClick={() => type('')}>
            <IconX size={14} aria-hidden />
          </ActionIcon>
        )
      }
      // Next to a filter, a phone has no room for its words.
      flex={{ base: '1 1 220px', xs: '1' }}
      maw={{ base: 'none', xs: width }}
      miw={140}
      autoComplete="off"
    />
  );
}
