import { Button, Menu } from '@mantine/core';
import { IconCopy, IconDots, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { Problem } from '../data/problem.ts';
import { Confirm } from './confirm.tsx';

interface MoreMenuProps {
  /** The item's name, typed to confirm deletion. */
  name: string;
  /** Omitted if it can't be duplicated. */
  duplicate?: { run: () => void; running: boolean };
  /** Omitted while it can't be deleted. */
  remove?: {
    /** The question, such as "Delete this draft?". */
    title: string;
    /** What else is deleted and what is kept. */
    about: ReactNode;
    run: () => void;
    running: boolean;
    problem: Problem | undefined;
  };
}

/** The overflow menu of a page: duplicate and delete. */
export function MoreMenu({ name, duplicate, remove }: MoreMenuProps) {
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button variant="default" px={9} aria-label={`More for ${name}`} loading={duplicate?.running}>
            <IconDots size={18} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {duplicate !== undefined && (
            <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={duplicate.run}>
              Duplicate
            </Menu.Item>
          )}
          {remove !== undefined && (
            <Menu.Item
              color="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} aria-hidden />}
              onClick={() => setDeleting(true)}
            >
              Delete
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {remove !== undefined && (
        <Confirm
          opened={deleting}
          onClose={() => setDeleting(false)}
          title={remove.title}
          action="Delete"
          word={name}
          running={remove.running}
          problem={remove.problem}
          onConfirm={remove.run}
        >
          {remove.about}
        </Confirm>
      )}
    </>
  );
}
