import { Menu } from '@mantine/core';
import { IconCopy, IconTrash } from '@tabler/icons-react';
import type { LoadedMenuProps } from './lazy-menu.tsx';

/** The items of `MoreMenu`: those that have an action. */
export function MoreMenuItems({
  button,
  opened,
  onChange,
  duplicate,
  remove,
}: LoadedMenuProps & { duplicate: (() => void) | undefined; remove: (() => void) | undefined }) {
  return (
    <Menu opened={opened} onChange={onChange}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        {duplicate !== undefined && (
          <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={duplicate}>
            Duplicate
          </Menu.Item>
        )}
        {remove !== undefined && (
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={remove}
          >
            Delete
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
