import { Text } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import { RowLink } from '../../components/link.tsx';

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
      <RowLink to="/p/$projectId/contacts/$contactId" params={{ projectId, contactId: contact.id }}>
        {labelOf(contact)}
      </RowLink>
      {contact.hasName && (
        <Text size="xs" c="dimmed" className="breakable">
          {contact.email}
        </Text>
      )}
    </>
  );
}
