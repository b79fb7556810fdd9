import { Textarea } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import { ContactPicker, type Picked } from './contact-picker.tsx';

/** Splits pasted text into addresses at line breaks, spaces, commas or semicolons. */
const addressesIn = (text: string): string[] => [
  ...new Set(text.split(/[\s,;<>]+/).filter((word) => word.includes('@'))),
];

/** Contacts to add to a group: some picked, others by their address. */
export function useMembers() {
  const [picked, setPicked] = useState<Picked[]>([]);
  const [missing, setMissing] = useState<string>();
  /** The chosen contacts; undefined, with an error next to the field, if there are none. */
  const chosen = (pasted: string) => {
    const members = { contactIds: picked.map(({ id }) => id), emails: addressesIn(pasted) };
    const isEmpty = members.contactIds.length === 0 && members.emails.length === 0;
    setMissing(isEmpty ? 'Pick at least one contact, or paste an address.' : undefined);
    return isEmpty ? undefined : members;
  };
  return { picked, setPicked, missing, chosen };
}

/** Picks contacts or takes pasted addresses. */
export function MemberFields({
  members: { picked, setPicked, missing },
  error = missing,
  form,
}: {
  members: ReturnType<typeof useMembers>;
  error?: string | undefined;
  form: Pick<UseFormReturnType<{ emails: string }>, 'getInputProps'>;
}) {
  return (
    <>
      <ContactPicker picked={picked} error={error} onPick={setPicked} />
      <Textarea
        label="Or paste addresses"
        description="One per line or separated by commas. Only contacts can be members."
        rows={4}
        resize="vertical"
        {...form.getInputProps('emails')}
      />
    </>
  );
}
