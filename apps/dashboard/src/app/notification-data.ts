import { IconBan, IconBell, IconPlayerPause, IconWebhookOff } from '@tabler/icons-react';
import { graphql } from '../generated/gql.ts';
import type { NotificationsQuery } from '../generated/graphql.ts';

export const NOTIFICATIONS = graphql(`
  query Notifications($first: Int!, $after: String) {
    notifications(first: $first, after: $after) {
      nodes {
        id
        kind
        subjectId
        title
        detail
        createdAt
        readAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    unreadNotifications
  }
`);

export const MARK_READ = graphql(`
  mutation MarkNotificationsRead($ids: [ID!], $through: ID) {
    markNotificationsRead(ids: $ids, through: $through) {
      unreadNotifications
    }
  }
`);

export type Notification = NotificationsQuery['notifications']['nodes'][number];

export const NOTIFICATION_ICONS: Record<Notification['kind'], typeof IconBan> = {
  campaign_paused: IconPlayerPause,
  sender_blocked: IconBan,
  endpoint_disabled: IconWebhookOff,
  journey_paused: IconPlayerPause,
  journey_step: IconBell,
};
