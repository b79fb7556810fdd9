import { Autocomplete } from '@mantine/core';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { TestEmail } from '../../components/test-email.tsx';
import { SENDER_DOMAINS } from '../campaigns/sender.tsx';

const TEST = graphql(`
  mutation TestTemplate($id: ID!, $input: TestTemplateInput!) {
    testTemplate(id: $id, input: $input) {
      messageId
      status
    }
  }
`);

interface TestTemplateProps {
  templateId: string;
  opened: boolean;
  onClose: () => void;
}

/** Sends a test email of a template as it is saved. */
export function TestTemplate({ templateId, opened, onClose }: TestTemplateProps) {
  const test = useApiMutation(TEST);
  const domains = useApiQuery(SENDER_DOMAINS, {}).data?.domains.nodes.filter((each) => each.verifiedForSending) ?? [];
  const [typed, setTyped] = useState<string>();
  const fromEmail = typed ?? (domains[0] === undefined ? '' : `hello@${domains[0].unicodeName}`);
  const local = fromEmail.split('@', 1)[0] || 'hello';
  return (
    <TestEmail
      opened={opened}
      onClose={onClose}
      send={async (input) => (await test.run({ id: templateId, input: { ...input, fromEmail } }))?.testTemplate}
      running={test.running}
      problem={test.problem}
      incomplete={fromEmail === ''}
      fields={['fromEmail']}
    >
      <Autocomplete
        size="sm"
        label="From address"
        description="Its domain must be verified for sending."
        data={domains.map(({ unicodeName }) => `${local}@${unicodeName}`)}
        filter={({ options }) => options}
        value={fromEmail}
        error={test.problem?.fields.fromEmail}
        onChange={setTyped}
      />
    </TestEmail>
  );
}
