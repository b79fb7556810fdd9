import { Button, Card, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../app/session.tsx';
import { postAuth } from '../../data/auth.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { AskPassword } from './ask-password.tsx';
import { SaveCodes, type SetUpAnswer, SetUpFactor } from './set-up-factor.tsx';

type Step = 'none' | 'ask-on' | 'ask-off' | 'ask-codes';

/** Two-factor authentication. It is asked for after a password, so a user without one leaves it to the provider. */
export function SecondFactor({ hasPassword }: { hasPassword: boolean | undefined }) {
  return (
    <Section title="Two-factor authentication">
      {hasPassword === false ? (
        <Card>
          <Text size="sm">
            Your provider is responsible for it. An authenticator can be set up here for sign-in with a password.
          </Text>
        </Card>
      ) : (
        <Authenticator />
      )}
    </Section>
  );
}

/** Enable, disable, and new backup codes. */
function Authenticator() {
  const { me, reload } = useSession();
  const [step, setStep] = useState<Step>('none');
  const [setUp, setSetUp] = useState<SetUpAnswer>();
  const [codes, setCodes] = useState<string[]>();
  const close = () => setStep('none');
  const askOn = async (password: string) => {
    const answer = await postAuth('/two-factor/enable', { password });
    if (answer.data === undefined) return answer.problem;
    setSetUp(answer.data as unknown as SetUpAnswer);
    return undefined;
  };
  const askOff = async (password: string) => {
    const answer = await postAuth('/two-factor/disable', { password });
    if (answer.data === undefined) return answer.problem;
    notifySuccess('Two-factor authentication is off.');
    await reload();
    return undefined;
  };
  const askCodes = async (password: string) => {
    const answer = await postAuth('/two-factor/generate-backup-codes', { password });
    if (answer.data === undefined) return answer.problem;
    setCodes(answer.data.backupCodes as string[]);
    return undefined;
  };
  const ask = { 'ask-on': askOn, 'ask-off': askOff, 'ask-codes': askCodes, none: undefined }[step];
  return (
    <>
      <Card>
        <Group justify="space-between">
          <div>
            <Group gap="xs">
              <Text size="sm" fw={550}>
                Authenticator
              </Text>
              <StatusBadge tone={me.twoFactorEnabled ? 'good' : 'quiet'}>
                {me.twoFactorEnabled ? 'On' : 'Off'}
              </StatusBadge>
            </Group>
            <Text size="sm" c="dimmed" maw={420}>
              Require a code from an authenticator app when you sign in, so that a stolen password is not enough.
            </Text>
          </div>
          {me.twoFactorEnabled ? (
            <Group gap="xs">
              <Button variant="default" onClick={() => setStep('ask-codes')}>
                Generate new backup codes
              </Button>
              <Button variant="light" color="red" onClick={() => setStep('ask-off')}>
                Turn off
              </Button>
            </Group>
          ) : (
            <Button onClick={() => setStep('ask-on')}>Set up</Button>
          )}
        </Group>
      </Card>
      <AskPassword opened={ask !== undefined} onClose={close} onPassword={async (password) => ask?.(password)} />
      <SetUpFactor
        answer={setUp}
        onDone={() => {
          setSetUp(undefined);
          void reload();
        }}
      />
      <SaveCodes codes={codes} onDone={() => setCodes(undefined)} />
    </>
  );
}
