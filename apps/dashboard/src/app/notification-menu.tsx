import './notifications.css';
import { Group, Menu, Text } from '@mantine/core';
import { IconChecks, IconList } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useApiQuery } from '../data/api-query.ts';
import type { LoadedMenuProps } from '../components/lazy-menu.tsx';
import { MenuLink } from '../components/menu-link.tsx';
import { stateOf } from '../components/states.tsx';
import { When } from '../components/when.tsx';
import { useApiAction } from '../components/use-api-action.ts';
import { MARK_READ, type Notification, NOTIFICATION_ICONS, NOTIFICATIONS } from './notification-data.ts';
import { recordPath } from './record-path.ts';
import { useProject } from './session.tsx';

/** The page has those before. */
const NEWEST = 20;

/** The menu of the newest notifications. */
export default function NotificationMenu({ button, opened, onChange }: LoadedMenuProps) {
  return (
    <Menu width="min(400px, calc(100vw - 16px))" opened={opened} onChange={onChange}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown className="notification-menu">
        <Newest />
      </Menu.Dropdown>
    </Menu>
  );
}

/** The newest notifications, as menu items that lead to what they are about. */
function Newest() {
  const { id: projectId } = useProject();
  const { data, problem } = useApiQuery(NOTIFICATIONS, { first: NEWEST, after: null });
  const mark = useApiAction(MARK_READ);
  const nodes = data?.notifications.nodes;
  const [newest] = nodes ?? [];
  const markAll = useRef<HTMLButtonElement>(null);
  const all = useRef<HTMLAnchorElement>(null);
  const isLoaded = nodes !== undefined;
  // The menu was opened before this loaded, and the keyboard acts in what has the focus. The menu notes first what had the
  // focus, to return it.
  useEffect(() => {
    const frame = requestAnimationFrame(() => (markAll.current ?? all.current)?.focus({ preventScroll: true }));
    return () => cancelAnimationFrame(frame);
  }, [isLoaded]);
  return (
    <>
      {newest !== undefined && (
        <>
          <Menu.Item
            ref={markAll}
            closeMenuOnClick={false}
            leftSection={<IconChecks size={16} stroke={1.7} aria-hidden />}
            onClick={() => void mark.run({ through: newest.id })}
          >
            Mark all as read
          </Menu.Item>
          <Menu.Divider />
        </>
      )}
      {nodes === undefined && <Menu.Label>{stateOf({ problem })}</Menu.Label>}
      {nodes?.length === 0 && <Menu.Label>No notifications yet</Menu.Label>}
      {nodes?.map((notification) => (
        <NotificationItem
          key={notification.id}
          of={notification}
          onRead={() => void mark.run({ ids: [notification.id] })}
        />
      ))}
      <Menu.Divider />
      <MenuLink
        ref={all}
        to="/p/$projectId/notifications"
        params={{ projectId }}
        leftSection={<IconList size={16} stroke={1.7} aria-hidden />}
      >
        All notifications
      </MenuLink>
    </>
  );
}

function NotificationItem({
  of: { kind, subjectId, title, detail, createdAt, readAt },
  onRead,
}: {
  of: Notification;
  onRead: () => void;
}) {
  const { id: projectId } = useProject();
  const Icon = NOTIFICATION_ICONS[kind];
  const isUnread = readAt === null;
  return (
    <MenuLink
      to={recordPath(projectId, subjectId) ?? '.'}
      leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
      onClick={() => isUnread && onRead()}
      className={isUnread ? 'notification unread' : 'notification'}
    >
      <Group justify="space-between" wrap="nowrap" gap="xs" align="flex-start">
        <Text size="sm" fw={isUnread ? 600 : 400} className="breakable">
          {isUnread && <span className="visually-hidden">Unread: </span>}
          {title}
        </Text>
        {isUnread && <span aria-hidden className="unread-dot" />}
      </Group>
      <Text size="xs" c="dimmed" lineClamp={2} className="breakable">
        {detail}
      </Text>
      <Text size="xs" c="dimmed">
        <When at={createdAt} />
      </Text>
    </MenuLink>
  );
}
