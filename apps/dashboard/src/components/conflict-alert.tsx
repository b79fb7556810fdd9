import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconUsers } from '@tabler/icons-react';
import { useSession } from '../app/session.tsx';
import type { Conflict } from '../data/versioned-form.ts';
import { list } from './numbers.ts';
import { When } from './when.tsx';

/** Who last saved a record, and when. */
interface LastEdit {
  editedById: string | null;
  editedByName: string | null;
  updatedAt: string;
}

interface ConflictAlertProps<Content> {
  conflict: Conflict<Content> | undefined;
  of: LastEdit;
  /** Field names as shown on this page. */
  labels: Partial<Record<keyof Content, string>>;
  /** Called after the user keeps their version; omitted if the form autosaves. */
  onKeep?: () => void;
}

/** Shown when someone else saved the same record: names them, shows their version, and asks which to keep. */
export function ConflictAlert<Content>({ conflict, of, labels, onKeep }: ConflictAlertProps<Content>) {
  const { me } = useSession();
  if (conflict === undefined) return null;
  const { fields, seesTheirs, see } = conflict;
  const isMe = of.editedById === me.id;
  const changed = list.format(fields.map((field) => labels[field] ?? String(field)));
  const keep = () => {
    conflict.keepMine();
    onKeep?.();
  };
  return (
    <Alert
      color="yellow"
      role="alert"
      icon={<IconUsers aria-hidden />}
      title={
        <>
          {isMe ? 'You' : (of.editedByName ?? 'Somebody')} saved this <When at={of.updatedAt} />
          {isMe && ' in another window'}
        </>
      }
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {seesTheirs
            ? 'You are viewing their version. Your changes are kept until you choose.'
            : `Conflicting changes: ${changed}. Your changes are still here but not saved.`}
        </Text>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={() => see(!seesTheirs)}>
            {seesTheirs ? 'Show mine' : 'Show theirs'}
          </Button>
          {seesTheirs && (
            <Button size="compact-sm" variant="default" onClick={conflict.takeTheirs}>
              Use theirs
            </Button>
          )}
          <Button size="compact-sm" onClick={keep}>
            Keep mine
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
