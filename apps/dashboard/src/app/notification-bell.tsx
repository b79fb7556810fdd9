import { ActionIcon, Menu } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useLiveValue } from '../data/live.ts';
import { refresh } from '../data/refresh.ts';
import { graphql } from '../generated/gql.ts';
import { useMay } from './session.tsx';

const NotificationMenu = lazy(() => import('./notification-menu.tsx'));

const UNREAD = graphql(`
  subscription UnreadNotifications {
    unreadNotificationsChanged
  }
`);

/** The server counts up to this number. */
const MAX_UNREAD = 100;

/** Leads to the newest notifications and shows how many are unread. Only owners and admins have any. */
export function NotificationBell() {
  const isManager = useMay()('manage');
  const [unread, setUnread] = useState(0);
  const [opened, setOpened] = useState(false);
  useLiveValue(
    UNREAD,
    ({ unreadNotificationsChanged }) => {
      setUnread(unreadNotificationsChanged);
      if (opened) refresh();
    },
    { pause: !isManager },
  );
  if (!isManager) return null;
  const count = unread >= MAX_UNREAD ? `${MAX_UNREAD - 1}+` : String(unread);
  return (
    <Menu width="min(400px, calc(100vw - 16px))" opened={opened} onChange={setOpened}>
      <Menu.Target>
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
      </Menu.Target>
      <Menu.Dropdown className="notification-menu">
        <Suspense>
          <NotificationMenu />
        </Suspense>
      </Menu.Dropdown>
    </Menu>
  );
}
