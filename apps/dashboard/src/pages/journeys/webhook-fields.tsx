import { Button, Checkbox, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { CopyLine } from '../../components/copy.tsx';
import { FormProblem } from '../../components/form.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { FieldsProps } from './choices.ts';

const REVEAL = graphql(`
  mutation RevealJourneySecret {
    revealJourneySigningSecret {
      secret
    }
  }
`);

/** The URL that is called, and whether failures go elsewhere. */
export function WebhookFields({ step, set }: FieldsProps) {
  const canManage = usePermission('manage');
  return (
    <>
      <TextInput
        label="URL"
        description="The contact and the event are posted here as JSON. Calls that fail are repeated for up to nine hours."
        type="url"
        placeholder="https://example.com/coupons"
        maxLength={2048}
        value={step.url ?? ''}
        onChange={(event) => set({ url: event.currentTarget.value })}
      />
      <Text size="sm" c="dimmed">
        Later steps can use the response: <Code>{`{{steps.${step.id}.body.coupon}}`}</Code> in templates, and{' '}
        <Code>{`steps.${step.id}.status`}</Code> in conditions.
      </Text>
      {canManage && <SigningSecret />}
      <Checkbox
        label="Use another next step if all attempts fail"
        checked={step.onFailure !== undefined}
        onChange={(event) => set({ onFailure: event.currentTarget.checked ? null : undefined })}
      />
    </>
  );
}

function SigningSecret() {
  const reveal = useApiMutation(REVEAL);
  const [secret, setSecret] = useState<string>();
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        Signing secret of the project
      </Text>
      <FormProblem problem={reveal.problem} />
      {secret === undefined ? (
        <Group>
          <Button
            variant="default"
            size="compact-sm"
            loading={reveal.running}
            onClick={async () => setSecret((await reveal.run({}))?.revealJourneySigningSecret.secret)}
          >
            Reveal signing secret
          </Button>
        </Group>
      ) : (
        <CopyLine text={secret} label="Copy secret" />
      )}
    </Stack>
  );
}
