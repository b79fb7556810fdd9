import { Button, Group, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useEffect, useEffectEvent } from 'react';
import { Dialog } from '../components/dialog.tsx';

/** What has ended: the session, or what the user could do in the project. */
export type Ended = 'session' | 'access';

export interface SessionEndedProps {
  opened: boolean;
  ended: Ended | undefined;
  /** Closes the dialog; the page keeps its changes. */
  onClose: () => void;
  /** Loads the session of a sign-in in another tab, or an access that was restored. */
  onReload: () => void;
  onDiscard: () => void;
}

/** See `SessionEnded`. */
export function SessionEndedDialog({ opened, ended, onClose, onReload, onDiscard }: SessionEndedProps) {
  const reload = useEffectEvent(onReload);
  useEffect(() => {
    if (!opened) return undefined;
    const check = () => reload();
    window.addEventListener('focus', check);
    return () => window.removeEventListener('focus', check);
  }, [opened]);
  const isSession = ended !== 'access';
  return (
    <Dialog
      opened={opened}
      onClose={onClose}
      title={isSession ? 'Your session has ended' : 'Your access to this project has changed'}
    >
      <Stack>
        <Text size="sm">
          {isSession
            ? 'Sign in again in a new tab, then return to this one. Your unsaved changes stay on this page, and you can save them.'
            : 'You were removed from the project, or your role was changed, so your changes can’t be saved. They stay on this page: copy what you need before you discard them.'}
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onDiscard}>
            Discard changes
          </Button>
          {isSession ? (
            <Button
              component="a"
              href="/sign-in"
              target="_blank"
              leftSection={<IconExternalLink size={16} aria-hidden />}
              data-autofocus
            >
              Sign in
            </Button>
          ) : (
            <Button onClick={onClose} data-autofocus>
              Stay on this page
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}
