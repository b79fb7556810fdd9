import { Button, Card, Center, Group, PinInput, SimpleGrid, Stack, Text } from '@mantine/core';
import { QRCodeSVG } from 'qrcode.react';
import { useState } from 'react';
import { postAuth } from '../../data/auth.ts';
import { Dialog } from '../../components/dialog.tsx';
import { CopyButton, CopyField } from '../../components/copy.tsx';
import { digitProps, FormError } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';

/** The server's two-factor enrollment data. */
export interface SetUpAnswer {
  /** `otpauth://totp/…`, encoded in the QR code. */
  totpURI: string;
  backupCodes: string[];
}

/** Shows the QR code, verifies a code, then shows the backup codes. */
export function SetUpFactor({ answer, onDone }: { answer: SetUpAnswer | undefined; onDone: () => void }) {
  const [checked, setChecked] = useState(false);
  const done = () => {
    setChecked(false);
    onDone();
  };
  const codes = checked ? answer?.backupCodes : undefined;
  return (
    <>
      <Dialog
        opened={answer !== undefined && !checked}
        onClose={done}
        size="lg"
        title="Set up two-factor authentication"
      >
        {answer !== undefined && <Scan uri={answer.totpURI} onChecked={() => setChecked(true)} />}
      </Dialog>
      <SaveCodes codes={codes} onDone={done} />
    </>
  );
}

function Scan({ uri, onChecked }: { uri: string; onChecked: () => void }) {
  const [problem, setProblem] = useState<string>();
  const [tries, setTries] = useState(0);
  const [waiting, setWaiting] = useState(false);
  const secret = new URL(uri).searchParams.get('secret') ?? '';
  const verify = async (code: string) => {
    setWaiting(true);
    const answer = await postAuth('/two-factor/verify-totp', { code });
    if (answer.data !== undefined) {
      notifySuccess('Two-factor authentication is on.');
      return onChecked();
    }
    setWaiting(false);
    setProblem(answer.problem);
    setTries((before) => before + 1);
  };
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="lg">
      <Center>
        <Card bg="white" p="sm">
          <QRCodeSVG value={uri} size={196} title="QR code for your authenticator app" level="M" />
        </Card>
      </Center>
      <Stack>
        <Text size="sm">Scan the QR code with your authenticator app, or enter the key manually.</Text>
        <CopyField label="Key" value={secret} />
        <Stack gap={6}>
          <Text size="sm" fw={500}>
            6-digit code
          </Text>
          <FormError>{problem}</FormError>
          <PinInput
            key={tries}
            length={6}
            type="number"
            oneTimeCode
            size="sm"
            gap={6}
            getInputProps={(index) => ({ ...digitProps(index), ...(index === 0 ? { 'data-autofocus': true } : {}) })}
            autoFocus={tries > 0}
            readOnly={waiting}
            onComplete={(code) => void verify(code)}
          />
        </Stack>
      </Stack>
    </SimpleGrid>
  );
}

/** Shows backup codes once; the dialog stays open until the user confirms saving them. */
export function SaveCodes({ codes, onDone }: { codes: string[] | undefined; onDone: () => void }) {
  return (
    <Dialog opened={codes !== undefined} onClose={() => {}} withCloseButton={false} title="Save your backup codes">
      <Stack>
        <Text size="sm">
          Use one of these codes to sign in if you lose your phone. Each works once. Store them with your passwords;
          they will not be shown again.
        </Text>
        <Card p="md">
          <Group justify="space-between" align="flex-start" wrap="nowrap">
            <SimpleGrid cols={2} spacing="xs" className="mono" flex={1}>
              {codes?.map((code) => (
                <span key={code}>{code}</span>
              ))}
            </SimpleGrid>
            <CopyButton text={codes?.join('\n') ?? ''} label="Copy codes" />
          </Group>
        </Card>
        <Button onClick={onDone}>I have saved them</Button>
      </Stack>
    </Dialog>
  );
}
