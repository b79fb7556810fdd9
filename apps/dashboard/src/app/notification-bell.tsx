import { ActionIcon } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useState } from 'react';
import { LazyMenu } from '../components/lazy-menu.tsx';
import { useLiveValue } from '../data/live.ts';
import { refresh } from '../data/refresh.ts';
import { graphql } from '../generated/gql.ts';
import { usePermission } from './session.tsx';

const load = async () => (await import('./notification-menu.tsx')).default;

export const UNREAD = graphql(`
  subscription UnreadNotifications {
    unreadNotificationsChanged
  }
`);

/** The server counts up to this number. */
const MAX_UNREAD = 100;

/** Leads to the newest notifications and shows how many are unread. Only owners and admins have any. */
export function NotificationBell() {
  const canManage = usePermission('manage');
  const [unread, setUnread] = useState(0);
  const [opened, setOpened] = useState(false);
  useLiveValue(
    UNREAD,
    ({ unreadNotificationsChanged }) => {
      setUnread(unreadNotificationsChanged);
      if (opened) refresh();
    },
    { pause: !canManage },
  );
  if (!canManage) return null;
  const count = unread >= MAX_UNREAD ? `${MAX_UNREAD - 1}+` : String(unread);
  return (
    <LazyMenu
      load={load}
      onChange={setOpened}
      button={
        <ActionIcon
          size={34}
          className="bell"
          aria-label={unread === 0 ? 'Notifications' : `Notifications, ${count} unread`}
        >
          <IconBell size={20} stroke={1.7} aria-hidden />
          {unread > 0 && (
            <span className="bell-count" aria-hidden>
              {count}
            </span>
          )}
        </ActionIcon>
      }
    />
  );
}
