import { Text } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import { TextLink } from '../../components/link.tsx';

interface Named {
  name: string;
  email: string;
  hasName: boolean;
}

/** What to call a contact: its name, or its address if it has none. */
export const labelOf = ({ name, email, hasName }: Named): string => (hasName ? name : email);

/** A contact in the first cell of a row: a link that covers the row, and the address below the name. */
export function ContactLink({ contact }: { contact: Named & { id: string } }) {
  const { id: projectId } = useProject();
  return (
    <>
      <TextLink
        to="/p/$projectId/contacts/$contactId"
        params={{ projectId, contactId: contact.id }}
        className="covering breakable"
        fw={550}
        size="sm"
        c="var(--mantine-color-text)"
      >
        {labelOf(contact)}
      </TextLink>
      {contact.hasName && (
        <Text size="xs" c="dimmed" className="breakable">
          {contact.email}
        </Text>
      )}
    </>
  );
}
