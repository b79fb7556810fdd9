import { type ComboboxItem, Select, type SelectProps, TextInput } from '@mantine/core';
import { useRef } from 'react';
import { stateOf } from '../../components/states.tsx';
import { useAudiences } from './audiences.ts';

const NEW_GROUP = { value: 'new', label: 'New group' };

/** A group, a new one with a name, or none. */
export interface ChosenGroup {
  /** A group id, `new`, or none. */
  id: string | null;
  name: string;
}

/** What is sent for a chosen group. */
export const groupInput = ({ id, name }: ChosenGroup) =>
  id === NEW_GROUP.value ? { groupName: name } : { groupId: id };

/** Whether a new group has no name yet. */
export const lacksName = ({ id, name }: ChosenGroup) => id === NEW_GROUP.value && name.trim() === '';

interface Props extends Pick<SelectProps, 'label' | 'aria-label' | 'placeholder' | 'clearable' | 'w'> {
  choice: ChosenGroup;
  onChange: (choice: ChosenGroup) => void;
  canCreate?: boolean;
}

/** Chooses a group. A new one gets the name that was typed to look for it. */
export function GroupChoice({ choice, onChange, canCreate = true, w, ...props }: Props) {
  const read = useAudiences();
  const typed = useRef('');
  const groups = read.data?.groups.nodes.map(({ id, name }) => ({ value: id, label: name }));
  const data = [
    ...(canCreate ? [NEW_GROUP] : []),
    ...(groups ?? [{ value: 'loading', label: stateOf(read), disabled: true }]),
  ];
  const choose = (id: string | null) => {
    const isNewName = id === NEW_GROUP.value && !data.some(({ label }) => label === typed.current);
    onChange({ id, name: isNewName ? typed.current : choice.name });
  };
  return (
    <>
      <Select
        {...props}
        w={w}
        searchable
        data={data}
        filter={({ options, search }) => options.filter((option) => isFound(option as ComboboxItem, search))}
        onSearchChange={(text) => (typed.current = text)}
        value={choice.id}
        onChange={choose}
      />
      {choice.id === NEW_GROUP.value && (
        <TextInput
          label="Group name"
          required
          w={w}
          maxLength={200}
          value={choice.name}
          onChange={(event) => onChange({ ...choice, name: event.currentTarget.value })}
        />
      )}
    </>
  );
}

/** A new group can always be chosen, whatever is typed. */
const isFound = ({ value, label }: ComboboxItem, search: string) =>
  value === NEW_GROUP.value || label.toLowerCase().includes(search.trim().toLowerCase());
