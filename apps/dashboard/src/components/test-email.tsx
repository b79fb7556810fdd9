import { Stack, TagsInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useSession } from '../app/session.tsx';
import type { Problem } from '../data/problem.ts';
import { useUnsavedChanges } from '../data/unsaved-changes.ts';
import { Dialog } from './dialog.tsx';
import { FormButtons, FormProblem } from './form.tsx';
import { notifySuccess } from './notify.tsx';
import { SampleContact } from './sample-contact.tsx';
import { useSampleContact } from './use-sample-contact.ts';

/** Recipients of a test, and the contact whose values fill its placeholders. */
interface TestRecipients {
  emails: string[];
  contactId: string | null;
}

interface TestEmailProps {
  opened: boolean;
  onClose: () => void;
  /** Sends the test. Resolves to the status of each email; undefined if it failed. */
  send: (recipients: TestRecipients) => Promise<readonly { status: string }[] | undefined>;
  running: boolean;
  problem: Problem | undefined;
  /** Further fields, and whether they are complete. */
  children?: ReactNode;
  incomplete?: boolean;
  /** The names of those fields. */
  fields?: string[];
}

/** A dialog that sends a test email to a few addresses. */
export function TestEmail(props: TestEmailProps) {
  return (
    <Dialog opened={props.opened} onClose={props.onClose} title="Send test email">
      <TestForm {...props} />
    </Dialog>
  );
}

function TestForm({ onClose, send, running, problem, children, incomplete = false, fields = [] }: TestEmailProps) {
  const { me } = useSession();
  const [emails, setEmails] = useState([me.email]);
  const [typed, setTyped] = useState('');
  useUnsavedChanges(emails.join() !== me.email || typed !== '');
  const { contactId } = useSampleContact();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const sent = await send({ emails, contactId });
    if (sent === undefined) return;
    const suppressed = sent.filter(({ status }) => status === 'suppressed').length;
    notifySuccess(
      suppressed === 0 ? 'Test email sent.' : `The test was sent, but ${suppressed} of the addresses are suppressed.`,
    );
    onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack>
        <FormProblem problem={problem} fields={[...fields, 'emails']} />
        {children}
        <TagsInput
          size="sm"
          label="Addresses"
          description="Up to ten addresses."
          value={emails}
          onChange={setEmails}
          onSearchChange={setTyped}
          error={problem?.fields.emails}
          maxTags={10}
          splitChars={[',', ' ', ';']}
          // There are no options, and an open dropdown would swallow Escape.
          dropdownOpened={false}
          data-autofocus
        />
        <SampleContact
          label="Fill placeholders for"
          description="Without a contact, placeholders show their defaults."
        />
        <FormButtons
          submit="Send test"
          running={running}
          disabled={emails.length === 0 || incomplete}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
