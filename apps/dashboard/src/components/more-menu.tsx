import { Button, Menu } from '@mantine/core';
import { IconCopy, IconDots, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { Problem } from '../data/problem.ts';
import { Confirm } from './confirm.tsx';

interface MoreMenuProps {
  /** What it is about is called so, and is deleted by typing it. */
  name: string;
  /** Missing where there are no copies. */
  duplicate?: { run: () => void; running: boolean };
  /** Missing while it can not be deleted. */
  remove?: {
    /** What is asked, such as "Delete this draft?". */
    title: string;
    /** What goes with it, and what stays. */
    about: ReactNode;
    run: () => void;
    running: boolean;
    problem: Problem | undefined;
  };
}

/** What else can be done with something that a page is about: a copy of it made, and the thing itself deleted. */
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
