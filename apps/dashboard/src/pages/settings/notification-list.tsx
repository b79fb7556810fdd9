import '../../app/notifications.css';
import { Button, Group, Stack, Text } from '@mantine/core';
import { IconBell, IconChecks } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { UNREAD } from '../../app/notification-bell.tsx';
import { MARK_READ, type Notification, NOTIFICATION_ICONS, NOTIFICATIONS } from '../../app/notification-data.ts';
import { recordPath } from '../../app/record-path.ts';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { useLive } from '../../data/live.ts';
import { cursorOf, isFirstPage } from '../../data/paging.ts';
import { FormProblem } from '../../components/form.tsx';
import { ButtonLink, RowLink } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Empty, QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';

const PAGE_SIZE = 50;

/** All notifications of the user in the project. */
export function NotificationList() {
  const search = useSearch({ from: '/auth/p/$projectId/notifications' });
  const after = cursorOf(search) ?? null;
  const list = useApiQuery(NOTIFICATIONS, { first: PAGE_SIZE, after });
  const mark = useApiMutation(MARK_READ);
  useLive(UNREAD, {}, { pause: !usePermission('manage') });
  const [newest] = list.data?.notifications.nodes ?? [];
  const { id: projectId } = useProject();
  return (
    <Page
      title="Notifications"
      about="Campaigns, journeys, senders and endpoints that Postroom stopped automatically, newest first."
      actions={
        <>
          <ButtonLink to="/p/$projectId/account" params={{ projectId }} variant="default">
            Email settings
          </ButtonLink>
          {(list.data?.unreadNotifications ?? 0) > 0 && (
            <Button
              leftSection={<IconChecks size={16} aria-hidden />}
              loading={mark.running}
              // One that has arrived since this page was loaded stays unread.
              onClick={() => void mark.run({ through: isFirstPage(search) ? newest?.id : null })}
            >
              Mark all as read
            </Button>
          )}
        </>
      }
    >
      <FormProblem problem={mark.problem} />
      <QueryResult of={list} skeleton={<RowsSkeleton rows={10} />}>
        {({ notifications: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No notifications yet" icon={IconBell}>
              Notifications appear here when a campaign or journey is paused automatically, a sender is blocked or a
              webhook endpoint is disabled.
            </Empty>
          ) : (
            <Stack>
              <DataTable
                label="Notifications"
                rows={nodes}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Notification',
                    cell: (row) => <Item of={row} onRead={() => void mark.run({ ids: [row.id] })} />,
                  },
                  { title: 'When', untitled: true, width: 150, cell: ({ createdAt }) => <When at={createdAt} /> },
                ]}
              />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </Stack>
          )
        }
      </QueryResult>
    </Page>
  );
}

function Item({ of: { kind, subjectId, title, detail, readAt }, onRead }: { of: Notification; onRead: () => void }) {
  const { id: projectId } = useProject();
  const Icon = NOTIFICATION_ICONS[kind];
  const isUnread = readAt === null;
  return (
    <Group wrap="nowrap" gap="sm" align="flex-start">
      <Icon size={18} stroke={1.7} aria-hidden style={{ flex: 'none' }} />
      <div>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <RowLink
            to={recordPath(projectId, subjectId) ?? '.'}
            fw={isUnread ? 600 : 400}
            onClick={() => isUnread && onRead()}
          >
            {isUnread && <span className="visually-hidden">Unread: </span>}
            {title}
          </RowLink>
          {isUnread && <span aria-hidden className="unread-dot" />}
        </Group>
        <Text size="sm" c="dimmed" className="breakable">
          {detail}
        </Text>
      </div>
    </Group>
  );
}
