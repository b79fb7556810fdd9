import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { ReactNode } from 'react';

interface DotsMenuProps {
  label: string;
  /** For a row of a table. */
  small?: boolean;
  loading?: boolean;
  children: ReactNode;
}

/** The menu behind three dots. */
export const DotsMenu = ({ label, small = false, loading, children }: DotsMenuProps) => (
  <Menu>
    <Menu.Target>
      <ActionIcon variant="default" size={small ? 32 : 36} aria-label={label} loading={loading}>
        <IconDots size={small ? 16 : 18} aria-hidden />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
);
