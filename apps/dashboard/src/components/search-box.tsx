import { ActionIcon, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';

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
  /** The texts that were searched for and are not the value yet. */
  const asked = useRef<string[]>([]);
  useEffect(() => {
    // What was typed since stays, such as the space before the next word.
    const at = asked.current.indexOf(value);
    asked.current = at === -1 ? [] : asked.current.slice(at + 1);
    if (at === -1) setTyped(value);
  }, [value]);
  const search = useDebouncedCallback((given: string) => {
    const text = given.trim();
    if (text === (asked.current.at(-1) ?? value)) return;
    asked.current.push(text);
    onSearch(text === '' ? undefined : text);
  }, TYPING_MS);
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
