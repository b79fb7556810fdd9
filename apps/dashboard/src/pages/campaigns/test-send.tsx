import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { TestEmail } from '../../components/test-email.tsx';
import { inCampaignWords } from './findings.ts';

const TEST = graphql(`
  mutation TestCampaign($id: ID!, $input: TestCampaignInput!) {
    testCampaign(id: $id, input: $input) {
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
  const test = useApiMutation(TEST);
  return (
    <TestEmail
      opened={opened}
      onClose={onClose}
      send={async (input) => (await test.run({ id: campaignId, input }))?.testCampaign}
      running={test.running}
      problem={inCampaignWords(test.problem)}
    />
  );
}
