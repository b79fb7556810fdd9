import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';

/** A pending OAuth2 authorization. */
export interface Consenting {
  email: string;
  url: string;
}

/** Opens the mailbox provider's authorization page in a new tab. */
export function Consent({ of: consenting, onClose }: { of: Consenting | undefined; onClose: () => void }) {
  return (
    <Modal opened={consenting !== undefined} onClose={onClose} title={<Text fw={600}>Authorize</Text>}>
      {consenting !== undefined && <ConsentStep of={consenting} onDone={onClose} />}
    </Modal>
  );
}

export function ConsentStep({ of: { email, url }, onDone }: { of: Consenting; onDone: () => void }) {
  return (
    <Stack>
      <Text size="sm">
        Sign in as <b className="breakable">{email}</b> on the page that opens, and allow Postroom to send email.
        Complete this within 15 minutes in this browser.
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDone}>
          Close
        </Button>
        <Button
          component="a"
          href={url}
          target="_blank"
          rel="noreferrer"
          leftSection={<IconExternalLink size={16} aria-hidden />}
          onClick={onDone}
        >
          Continue
        </Button>
      </Group>
    </Stack>
  );
}
