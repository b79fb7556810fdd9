import { Button, Group, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { Dialog } from '../../components/dialog.tsx';

/** A pending OAuth2 authorization. */
export interface PendingAuthorization {
  email: string;
  url: string;
}

/** Opens the mailbox provider's authorization page in a new tab. */
export function Consent({ of: consenting, onClose }: { of: PendingAuthorization | undefined; onClose: () => void }) {
  return (
    <Dialog opened={consenting !== undefined} onClose={onClose} title="Authorize">
      {consenting !== undefined && <ConsentStep of={consenting} onDone={onClose} />}
    </Dialog>
  );
}

/** With `onBack`, it stays while the user is at the provider, and leads back to the form. */
export function ConsentStep({
  of: { email, url },
  onBack,
  onDone,
}: {
  of: PendingAuthorization;
  onBack?: () => void;
  onDone: () => void;
}) {
  return (
    <Stack>
      <Text size="sm">
        Sign in as <b className="breakable">{email}</b> on the page that opens, and allow Postroom to send email.
        Complete this within 15 minutes in this browser.
        {onBack !== undefined && ' This page follows. If access is not granted, go back to correct the form.'}
      </Text>
      <Group justify="flex-end" gap="xs">
        {onBack !== undefined && (
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
        )}
        <Button variant="default" onClick={onDone}>
          Close
        </Button>
        <Button
          component="a"
          href={url}
          target="_blank"
          rel="noreferrer"
          leftSection={<IconExternalLink size={16} aria-hidden />}
          onClick={onBack === undefined ? onDone : undefined}
        >
          Continue
        </Button>
      </Group>
    </Stack>
  );
}
