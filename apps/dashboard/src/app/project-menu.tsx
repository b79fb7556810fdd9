import { Group, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCheck, IconPlus } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import type { LoadedMenuProps } from '../components/lazy-menu.tsx';
import { MenuLink } from '../components/menu-link.tsx';
import { useProject, useSession } from './session.tsx';

const NewProject = lazy(() => import('./new-project.tsx'));

/** The projects of the user, to switch to, and the creation of a new one. */
export default function ProjectMenu({ button, opened, onChange }: LoadedMenuProps) {
  const { projects } = useSession();
  const current = useProject();
  const [creating, { open, close }] = useDisclosure(false);
  const owns = projects.some(({ role }) => role === 'owner');
  return (
    <>
      <Menu position="bottom-start" width={260} opened={opened} onChange={onChange}>
        <Menu.Target>{button}</Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Projects</Menu.Label>
          {projects.map(({ id, name, role }) => (
            <MenuLink
              key={id}
              to="/p/$projectId"
              params={{ projectId: id }}
              rightSection={id === current.id ? <IconCheck size={16} aria-hidden /> : undefined}
              aria-current={id === current.id ? 'true' : undefined}
            >
              <Group gap="xs" wrap="nowrap">
                <Text size="sm" truncate>
                  {name}
                </Text>
                <Text size="xs" c="dimmed">
                  {role}
                </Text>
              </Group>
            </MenuLink>
          ))}
          {owns && (
            <>
              <Menu.Divider />
              <Menu.Item leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
                New project
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {creating && (
        <Suspense>
          <NewProject opened onClose={close} />
        </Suspense>
      )}
    </>
  );
}
