import '@mantine/spotlight/styles.css';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { IconBuilding, IconSearch, IconUser } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { may } from './permissions.ts';
import { NAVIGATION } from './navigation.ts';
import { useProject, useSession } from './session.tsx';

/** The command palette (Ctrl+K): jumps to a page or project by name. */
export default function CommandPalette({ asked }: { asked: number }) {
  const navigate = useNavigate();
  const project = useProject();
  const { projects } = useSession();
  useEffect(() => spotlight.open(), [asked]);
  const pages = NAVIGATION.flatMap(({ heading, places }) =>
    places
      .filter(({ needs }) => needs === undefined || may(project.role, needs))
      .map(({ label, to, icon: Icon, keywords }) => ({
        id: to,
        label,
        description: heading,
        keywords,
        leftSection: <Icon size={20} stroke={1.6} aria-hidden />,
        onClick: () => void navigate({ to, params: { projectId: project.id } }),
      })),
  );
  const account = {
    id: 'account',
    label: 'Your account',
    keywords: 'password two-factor authentication 2fa sessions',
    leftSection: <IconUser size={20} stroke={1.6} aria-hidden />,
    onClick: () => void navigate({ to: '/p/$projectId/account', params: { projectId: project.id } }),
  };
  const others = projects
    .filter(({ id }) => id !== project.id)
    .map(({ id, name }) => ({
      id,
      label: name,
      leftSection: <IconBuilding size={20} stroke={1.6} aria-hidden />,
      onClick: () => void navigate({ to: '/p/$projectId', params: { projectId: id } }),
    }));
  return (
    <Spotlight
      actions={[
        { group: 'Pages', actions: [...pages, account] },
        ...(others.length === 0 ? [] : [{ group: 'Projects', actions: others }]),
      ]}
      title="Go to a page or a project"
      className="finder"
      shortcut={null}
      nothingFound="No matches"
      highlightQuery
      scrollable
      maxHeight={420}
      searchProps={{
        leftSection: <IconSearch size={20} stroke={1.6} aria-hidden />,
        placeholder: 'Go to a page or a project…',
        'aria-label': 'Go to a page or a project',
      }}
    />
  );
}
