import { MultiSelect, TextInput } from '@mantine/core';
import type { FieldsProps } from './choices.ts';

/** What the team is told, and who besides owners and admins. */
export function NotifyFields({ step, set, choices: { members } }: FieldsProps) {
  return (
    <>
      <TextInput
        label="Notification"
        description="Owners and admins get it by email and in the bell, with the names of the contacts, at most every 15 minutes."
        placeholder="A customer asked for a call"
        maxLength={150}
        value={step.text ?? ''}
        onChange={(event) => set({ text: event.currentTarget.value })}
      />
      <MultiSelect
        label="Also notify"
        description="Other members of the project, by email."
        searchable
        clearable
        maxValues={20}
        data={members.map(({ id, name }) => ({ value: id, label: name }))}
        value={step.memberIds ?? []}
        onChange={(chosen) => set({ memberIds: chosen.length === 0 ? undefined : chosen })}
      />
    </>
  );
}
