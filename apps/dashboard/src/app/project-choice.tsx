import { Group, Menu, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCheck, IconPlus, IconSelector } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { MenuLink } from '../components/link.tsx';
import { useProject, useSession } from './session.tsx';

const NewProject = lazy(() => import('./new-project.tsx'));

/** The project switcher. */
export function ProjectChoice() {
  const { projects } = useSession();
  const current = useProject();
  const [creating, { open, close }] = useDisclosure(false);
  const owns = projects.some(({ role }) => role === 'owner');
  return (
    <>
      <Menu position="bottom-start" width={260}>
        <Menu.Target>
          <UnstyledButton className="choice" aria-label={`Project ${current.name}. Switch project`}>
            <Text size="sm" fw={550} truncate maw={{ base: 110, xs: 200 }}>
              {current.name}
            </Text>
            <IconSelector size={15} aria-hidden />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown mah={400} className="scrolling">
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
