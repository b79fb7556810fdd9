import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useNavigate } from '../../components/use-navigate.ts';

const ERASE = graphql(`
  mutation ErasePerson($contactId: ID!) {
    erasePerson(contactId: $contactId) {
      isComplete
    }
  }
`);

/** Erases a contact's personal data on request. It removes more than deleting the contact. */
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
  const erase = useApiMutation(ERASE);
  const confirm = async () => {
    const done = await erase.run({ contactId: id });
    if (done === undefined) return;
    notifySuccess(
      `The contact’s personal data was erased and the address will never be emailed again.${
        done.erasePerson.isComplete ? '' : ' Other records that mention the address are still being searched.'
      }`,
    );
    void navigate({ to: '/p/$projectId/contacts', params: { projectId }, ignoreBlocker: true, replace: true });
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Erase this contact’s personal data?"
      action="Erase"
      confirmationText={email}
      running={erase.running}
      problem={erase.problem}
      onConfirm={() => void confirm()}
    >
      The contact is deleted, pending messages are canceled, and sent messages are kept only as anonymous statistics.
      Only a hash of the address is kept, so that it is never emailed again. This cannot be undone.
    </Confirm>
  );
}
