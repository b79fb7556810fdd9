import { Group, Menu, Text } from '@mantine/core';
import { IconBan, IconChecks, IconPlayerPause, IconWebhookOff } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useApiMutation } from '../data/api-mutation.ts';
import { useApiQuery } from '../data/api-query.ts';
import { graphql } from '../generated/gql.ts';
import type { NotificationMenuQuery } from '../generated/graphql.ts';
import type { LoadedMenuProps } from '../components/lazy-menu.tsx';
import { MenuLink } from '../components/menu-link.tsx';
import { When } from '../components/when.tsx';
import { recordPath } from './record-path.ts';
import { useProject } from './session.tsx';

const NEWEST = graphql(`
  query NotificationMenu {
    notifications(first: 20) {
      nodes {
        id
        kind
        subjectId
        title
        detail
        createdAt
        readAt
      }
    }
  }
`);

const MARK_READ = graphql(`
  mutation MarkNotificationsRead($ids: [ID!], $through: ID) {
    markNotificationsRead(ids: $ids, through: $through) {
      unreadNotifications
    }
  }
`);

type Notification = NotificationMenuQuery['notifications']['nodes'][number];

const ICONS: Record<Notification['kind'], typeof IconBan> = {
  campaign_paused: IconPlayerPause,
  sender_blocked: IconBan,
  endpoint_disabled: IconWebhookOff,
};

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
  const { data, problem } = useApiQuery(NEWEST, {});
  const mark = useApiMutation(MARK_READ);
  const nodes = data?.notifications.nodes;
  const [newest] = nodes ?? [];
  const first = useRef<HTMLButtonElement>(null);
  // The menu was opened before this loaded, and the keyboard acts in what has the focus.
  useEffect(() => first.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <Menu.Item
        ref={first}
        closeMenuOnClick={false}
        leftSection={<IconChecks size={16} stroke={1.7} aria-hidden />}
        onClick={() => newest !== undefined && void mark.run({ through: newest.id })}
      >
        Mark all as read
      </Menu.Item>
      <Menu.Divider />
      {nodes === undefined && <Menu.Label>{problem?.message ?? 'Loading…'}</Menu.Label>}
      {nodes?.length === 0 && <Menu.Label>No notifications yet</Menu.Label>}
      {nodes?.map((notification) => (
        <NotificationItem
          key={notification.id}
          of={notification}
          onRead={() => void mark.run({ ids: [notification.id] })}
        />
      ))}
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
  const Icon = ICONS[kind];
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
