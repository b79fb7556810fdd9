import { type SelectProps, TextInput } from '@mantine/core';
import { useRef } from 'react';
import { RecordSelect } from '../../components/record-select.tsx';

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
  const typed = useRef('');
  return (
    <>
      <RecordSelect
        of="groups"
        {...props}
        w={w}
        also={canCreate ? [NEW_GROUP] : []}
        onSearchChange={(text) => (typed.current = text)}
        value={choice.id}
        onChange={(id, row) => {
          const isNewName = id === NEW_GROUP.value && typed.current !== NEW_GROUP.label;
          onChange({ id, name: isNewName ? typed.current : (row?.name ?? choice.name) });
        }}
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
