import { type MantineColorScheme, Menu, Text, useMantineColorScheme } from '@mantine/core';
import { IconBook2, IconLogout, IconUser } from '@tabler/icons-react';
import type { LoadedMenuProps } from '../components/lazy-menu.tsx';
import { MenuLink } from '../components/menu-link.tsx';
import { useProject, useSession } from './session.tsx';
import { signOut } from './sign-out.ts';

/** The user menu. */
export default function UserMenu({ button, opened, onChange }: LoadedMenuProps) {
  const { me } = useSession();
  const { id: projectId } = useProject();
  return (
    <Menu width={240} opened={opened} onChange={onChange}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} className="breakable">
            {me.name}
          </Text>
          <Text size="xs" className="breakable">
            {me.email}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <MenuLink
          to="/p/$projectId/account"
          params={{ projectId }}
          leftSection={<IconUser size={16} stroke={1.7} aria-hidden />}
        >
          Your account
        </MenuLink>
        <Menu.Divider />
        <SchemeChoice />
        <Menu.Divider />
        <Menu.Item
          component="a"
          href="/docs"
          target="_blank"
          leftSection={<IconBook2 size={16} stroke={1.7} aria-hidden />}
        >
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} stroke={1.7} aria-hidden />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const SCHEMES = [
  ['auto', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

/** The color scheme, kept in the browser. "System" follows the operating system. */
function SchemeChoice() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <>
      <Menu.Label>Theme</Menu.Label>
      <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}>
        {SCHEMES.map(([scheme, label]) => (
          <Menu.RadioItem key={scheme} value={scheme}>
            {label}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </>
  );
}
