import '@mantine/core/styles/Tabs.css';
import { Button, Card, Code, Group, Stack, Tabs, Text } from '@mantine/core';
import { IconEye, IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { CodeBlock, CopyLine } from '../../components/copy.tsx';
import { FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import type { Endpoint } from './endpoint-row.ts';
import { SNIPPETS } from './snippets.ts';

const REVEAL = graphql(`
  mutation RevealSecret($id: ID!) {
    webhookEndpointRevealSecret(id: $id) {
      secret
    }
  }
`);

const ROTATE = graphql(`
  mutation RotateSecret($id: ID!) {
    webhookEndpointRotateSecret(id: $id) {
      secret
    }
  }
`);

/** The signing secret: reveal and rotate. */
export function Secret({ endpoint: { id, previousSecretExpiresAt } }: { endpoint: Endpoint }) {
  const reveal = useApiMutation(REVEAL);
  const rotate = useApiMutation(ROTATE);
  const [secret, setSecret] = useState<string>();
  const [asked, setAsked] = useState(false);
  const [verifying, setVerifying] = useState(false);
  const show = async () => setSecret((await reveal.run({ id }))?.webhookEndpointRevealSecret.secret);
  const confirm = async () => {
    const data = await rotate.run({ id });
    if (data === undefined) return;
    setSecret(data.webhookEndpointRotateSecret.secret);
    setAsked(false);
    notifySuccess('Signing secret rotated.');
  };
  return (
    <Section title="Signing secret" about="Use it to verify that requests come from Postroom.">
      <Card>
        <Stack>
          <FormProblem problem={reveal.problem} />
          <Group justify="space-between" align="center" gap="sm">
            <div className="grow">
              {secret === undefined ? (
                <Text className="mono" aria-label="Secret hidden">
                  whsec_••••••••••••••••
                </Text>
              ) : (
                <CopyLine text={secret} label="Copy secret" />
              )}
            </div>
            <Group gap="xs">
              {secret === undefined ? (
                <Button
                  variant="default"
                  leftSection={<IconEye size={16} aria-hidden />}
                  loading={reveal.running}
                  onClick={() => void show()}
                >
                  Reveal
                </Button>
              ) : (
                <Button variant="default" onClick={() => setSecret(undefined)}>
                  Hide
                </Button>
              )}
              <Button
                variant="default"
                leftSection={<IconRefresh size={16} aria-hidden />}
                onClick={() => setAsked(true)}
              >
                Rotate
              </Button>
            </Group>
          </Group>
          {previousSecretExpiresAt !== null && Date.parse(previousSecretExpiresAt) > Date.now() && (
            <Text size="sm" c="dimmed">
              The previous secret keeps signing <Code>X-Webhook-Signature-Previous</Code> until it expires{' '}
              <When at={previousSecretExpiresAt} />.
            </Text>
          )}
          <Button
            variant="subtle"
            size="compact-sm"
            className="start"
            aria-expanded={verifying}
            onClick={() => setVerifying(!verifying)}
          >
            {verifying ? 'Hide code' : 'How to verify requests'}
          </Button>
          {verifying && <Verify />}
        </Stack>
      </Card>
      <Confirm
        opened={asked}
        onClose={() => setAsked(false)}
        title="Rotate the signing secret?"
        action="Rotate"
        running={rotate.running}
        problem={rotate.problem}
        onConfirm={() => void confirm()}
      >
        From now on the new secret signs <Code>X-Webhook-Signature</Code>. For 24 hours the old secret also signs{' '}
        <Code>X-Webhook-Signature-Previous</Code>. Accept either signature while you update your application, and no
        events are lost.
      </Confirm>
    </Section>
  );
}

function Verify() {
  return (
    <Tabs defaultValue={SNIPPETS[0]?.language}>
      <Tabs.List aria-label="Languages">
        {SNIPPETS.map(({ language }) => (
          <Tabs.Tab key={language} value={language}>
            {language}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {SNIPPETS.map(({ language, text }) => (
        <Tabs.Panel key={language} value={language} pt="sm">
          <CodeBlock text={text} label={`Verification in ${language}`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
