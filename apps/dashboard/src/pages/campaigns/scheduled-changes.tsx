import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconCalendarTime } from '@tabler/icons-react';
import { useState } from 'react';
import type { Problem } from '../../data/problem.ts';
import { Confirm } from '../../components/confirm.tsx';
import { list } from '../../components/numbers.ts';
import { notifySuccess } from '../../components/notify.tsx';
import { When } from '../../components/when.tsx';

interface ScheduledChangesProps {
  /** The changed fields, as the page calls them. */
  changed: readonly string[];
  scheduledAt: string;
  saving: boolean;
  problem: Problem | undefined;
  save: () => Promise<boolean>;
  discard: () => void;
}

/** Changes to a scheduled campaign, which are saved only after a confirmation. */
export function ScheduledChanges({ changed, scheduledAt, saving, problem, save, discard }: ScheduledChangesProps) {
  const [asking, setAsking] = useState(false);
  const words = list.format([...new Set(changed)]);
  const confirm = async () => {
    if (!(await save())) return;
    setAsking(false);
    notifySuccess('The scheduled campaign was changed.');
  };
  return (
    <>
      <Alert color="yellow" icon={<IconCalendarTime aria-hidden />} className="stays-in-view" aria-live="polite">
        <Group justify="space-between" gap="sm">
          <Stack gap={0}>
            <Text size="sm" fw={550}>
              Unsaved changes to a scheduled campaign
            </Text>
            <Text size="sm">Changed: {words}.</Text>
          </Stack>
          <Group gap="xs">
            <Button variant="default" onClick={discard}>
              Discard
            </Button>
            <Button onClick={() => setAsking(true)}>Save changes</Button>
          </Group>
        </Group>
      </Alert>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title="Change a scheduled campaign?"
        action="Save changes"
        harmless
        running={saving}
        problem={problem}
        onConfirm={() => void confirm()}
      >
        It starts <When at={scheduledAt} />, with your changes to {words}. It stays scheduled.
      </Confirm>
    </>
  );
}
