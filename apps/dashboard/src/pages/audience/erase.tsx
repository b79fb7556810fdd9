import { useNavigate } from '@tanstack/react-router';
import { useProject } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { tell } from '../../components/notify.tsx';

const ERASE = graphql(`
  mutation ErasePerson($contactId: ID!) {
    erasePerson(contactId: $contactId) {
      messages
      canceled
    }
  }
`);

/** Erases a person who asks for it: more is gone than when a contact is deleted. */
export function Erase({
  contact: { id, email },
  opened,
  onClose,
}: {
  contact: { id: string; email: string };
  opened: boolean;
  onClose: () => void;
}) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const erase = useChange(ERASE);
  const confirm = async () => {
    if ((await erase.run({ contactId: id })) === undefined) return;
    tell('The person is erased, and is never mailed again.');
    void navigate({ to: '/p/$projectId/contacts', params: { projectId } });
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Erase this person?"
      action="Erase"
      word={email}
      running={erase.running}
      problem={erase.problem}
      onConfirm={() => void confirm()}
    >
      The contact is deleted, messages that wait are canceled, and those that were sent stay as figures without a name.
      Of the address only a hash is kept, so that it is never mailed again. This can not be undone.
    </Confirm>
  );
}
