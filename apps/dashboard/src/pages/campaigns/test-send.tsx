import { Button, Modal, Stack, TagsInput, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useSession } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { FormButtons, FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';

const TEST = graphql(`
  mutation TestCampaign($id: ID!, $emails: [String!]!) {
    testCampaign(id: $id, input: { emails: $emails }) {
      messageId
      status
    }
  }
`);

interface TestSendProps {
  campaignId: string;
  opened: boolean;
  onClose: () => void;
}

/** Sends a test email of the current draft. */
export function TestSend({ campaignId, opened, onClose }: TestSendProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={<Text fw={600}>Send test email</Text>}>
      <TestForm campaignId={campaignId} onClose={onClose} />
    </Modal>
  );
}

function TestForm({ campaignId, onClose }: Omit<TestSendProps, 'opened'>) {
  const { me } = useSession();
  const [emails, setEmails] = useState([me.email]);
  const test = useApiMutation(TEST);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const data = await test.run({ id: campaignId, emails });
    if (data === undefined) return;
    const suppressed = data.testCampaign.filter(({ status }) => status === 'suppressed').length;
    notifySuccess(
      suppressed === 0 ? 'Test email sent.' : `The test was sent, but ${suppressed} of the addresses are suppressed.`,
    );
    onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack>
        <FormProblem problem={test.problem} />
        <TagsInput
          size="sm"
          label="Addresses"
          description="Up to ten addresses. Placeholders show their defaults."
          value={emails}
          onChange={setEmails}
          maxTags={10}
          splitChars={[',', ' ', ';']}
          // There are no options, and an open dropdown would swallow Escape.
          dropdownOpened={false}
          data-autofocus
        />
        <FormButtons submit="Send test" running={test.running} disabled={emails.length === 0}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </FormButtons>
      </Stack>
    </form>
  );
}
