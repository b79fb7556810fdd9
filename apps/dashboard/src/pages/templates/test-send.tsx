import { Autocomplete } from '@mantine/core';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useSenderDomains } from '../../data/domains.ts';
import { graphql } from '../../generated/gql.ts';
import { TestEmail } from '../../components/test-email.tsx';

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
  const domains = useSenderDomains() ?? [];
  const [typed, setTyped] = useState<string>();
  const fromEmail = typed ?? (domains[0] === undefined ? '' : `hello@${domains[0]}`);
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
        data={domains.map((domain) => `${local}@${domain}`)}
        filter={({ options }) => options}
        value={fromEmail}
        error={test.problem?.fields.fromEmail}
        onChange={setTyped}
      />
    </TestEmail>
  );
}
