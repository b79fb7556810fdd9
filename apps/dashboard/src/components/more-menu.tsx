import { Button } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { Problem } from '../data/problem.ts';
import { Confirm } from './confirm.tsx';
import { LazyMenu } from './lazy-menu.tsx';

const load = async () => (await import('./more-menu-items.tsx')).MoreMenuItems;

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
      <LazyMenu
        load={load}
        menu={{ duplicate: duplicate?.run, remove: remove === undefined ? undefined : () => setDeleting(true) }}
        button={
          <Button variant="default" px={9} aria-label={`More for ${name}`} loading={duplicate?.running}>
            <IconDots size={18} aria-hidden />
          </Button>
        }
      />
      {remove !== undefined && (
        <Confirm
          opened={deleting}
          onClose={() => setDeleting(false)}
          title={remove.title}
          action="Delete"
          confirmationText={name}
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
