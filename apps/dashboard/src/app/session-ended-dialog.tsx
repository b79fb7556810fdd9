import { Button, Group, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useEffect, useEffectEvent } from 'react';
import { Dialog } from '../components/dialog.tsx';

export interface SessionEndedProps {
  opened: boolean;
  /** Closes the dialog; the page keeps its changes. */
  onClose: () => void;
  /** Loads the session of a sign-in in another tab. */
  onReload: () => void;
  onDiscard: () => void;
}

/** See `SessionEnded`. */
export function SessionEndedDialog({ opened, onClose, onReload, onDiscard }: SessionEndedProps) {
  const reload = useEffectEvent(onReload);
  useEffect(() => {
    if (!opened) return undefined;
    const check = () => reload();
    window.addEventListener('focus', check);
    return () => window.removeEventListener('focus', check);
  }, [opened]);
  return (
    <Dialog opened={opened} onClose={onClose} title="Your session has ended">
      <Stack>
        <Text size="sm">
          Sign in again in a new tab, then return to this one. Your unsaved changes stay on this page, and you can save
          them.
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onDiscard}>
            Discard changes
          </Button>
          <Button
            component="a"
            href="/sign-in"
            target="_blank"
            leftSection={<IconExternalLink size={16} aria-hidden />}
            data-autofocus
          >
            Sign in
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
