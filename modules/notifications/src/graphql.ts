import '@postroom/auth/graphql';
import {
  authenticated,
  builder,
  callerProject,
  type Context,
  db,
  managersOnly,
  Node,
  refusal,
  registerNode,
  relayNames,
  rowsQuery,
} from '@postroom/platform';
import { countUnread, listNotifications, markRead, MAX_UNREAD, watchUnread } from './notifications.ts';
import { NOTIFICATION_ID } from './notify.ts';
import { getSettings, type Settings, updateSettings } from './settings.ts';

const NotificationKind = builder.enumType('NotificationKind', {
  description: 'The kind of event that a notification reports.',
  values: {
    campaign_paused: { description: 'A campaign was paused automatically, or could not start at its scheduled time.' },
    sender_blocked: {
      description: "A completed campaign reached a limit of bounces or complaints; its sender's domain is blocked.",
    },
    endpoint_disabled: { description: 'A webhook endpoint was disabled because its deliveries kept failing.' },
    journey_paused: { description: 'A journey paused itself because it could not carry out a step.' },
    journey_step: { description: 'Contacts reached a step of a journey that notifies.' },
  },
});

const Notification = builder.prismaObject('Notification', {
  interfaces: [Node],
  description:
    'A notification for owners and admins of the project: something stopped automatically, or a journey reached a step that notifies.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Notification id.' }),
    kind: t.expose('kind', { type: NotificationKind, description: 'The kind of event.' }),
    subjectId: t.exposeID('subjectId', {
      description: 'The id of the campaign, webhook endpoint or journey, which may have been deleted.',
    }),
    title: t.exposeString('title', { description: 'What happened, in one line.' }),
    detail: t.exposeString('detail', { description: 'Why it happened.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    readAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the caller marked it as read; null if it is unread.',
      select: (_args, context) => ({ recipients: ofCaller(context) }),
      resolve: ({ recipients }) => recipients[0]?.readAt ?? null,
    }),
  }),
});

const ofCaller = (context: Context) => ({
  where: { userId: authenticated(context).id },
  select: { readAt: true },
});

registerNode(
  NOTIFICATION_ID,
  'Notification',
  (context, ids) =>
    db.notification.findMany({
      where: {
        projectId: callerProject(context),
        id: { in: ids },
        recipients: { some: { userId: authenticated(context).id } },
      },
      include: { recipients: ofCaller(context) },
    }),
  'manage',
);

const NotificationSettings = builder.objectRef<Settings>('NotificationSettings').implement({
  description: 'The notification settings of a user.',
  fields: (t) => ({
    emails: t.exposeBoolean('emails', { description: 'Whether notifications are sent by email.' }),
  }),
});

/** The id of the signed-in user; settings belong to people, whatever their role. */
function person(context: Context): string {
  const { kind, id } = authenticated(context);
  if (kind === 'person') return id;
  throw refusal(context, 'own');
}

const UNREAD = `unread notifications, counted up to ${MAX_UNREAD}: that number means that many or more.`;

builder.queryFields((t) => ({
  notifications: t.connection(
    {
      type: Notification,
      ...managersOnly,
      description: "The caller's notifications in the project, newest first.",
      resolve: (_root, args, context, info) =>
        listNotifications(callerProject(context), authenticated(context).id, args, rowsQuery(context, info)),
    },
    ...relayNames('Notification'),
  ),
  unreadNotifications: t.int({
    ...managersOnly,
    description: `The caller's ${UNREAD}`,
    resolve: (_root, _args, context) => countUnread(callerProject(context), authenticated(context).id),
  }),
  notificationSettings: t.field({
    type: NotificationSettings,
    skipTypeScopes: true,
    description: 'The notification settings of the signed-in user, for all projects.',
    resolve: (_root, _args, context) => getSettings(person(context)),
  }),
}));

builder.subscriptionField('unreadNotificationsChanged', (t) =>
  t.int({
    ...managersOnly,
    description: `The caller's ${UNREAD} Sent at once, then whenever one is added or read, at most once a second.`,
    subscribe: (_root, _args, context) => watchUnread(callerProject(context), authenticated(context).id),
    resolve: (count) => count,
  }),
);

const MarkNotificationsReadPayload = builder.objectRef<{ ids: string[] }>('MarkNotificationsReadPayload').implement({
  description: 'What `markNotificationsRead` did.',
  fields: (t) => ({
    notifications: t.prismaField({
      type: [Notification],
      description: 'The notifications that were unread, newest first; at most 100.',
      resolve: (query, { ids }) =>
        db.notification.findMany({ ...query, where: { id: { in: ids } }, orderBy: { id: 'desc' }, take: 100 }),
    }),
    unreadNotifications: t.int({
      description: `The remaining ${UNREAD}`,
      resolve: (_payload, _args, context) => countUnread(callerProject(context), authenticated(context).id),
    }),
  }),
});

const UpdateNotificationSettingsPayload = builder.objectRef<Settings>('UpdateNotificationSettingsPayload').implement({
  description: 'What `updateNotificationSettings` did.',
  fields: (t) => ({
    notificationSettings: t.field({
      type: NotificationSettings,
      description: 'The current settings.',
      resolve: (settings) => settings,
    }),
  }),
});

const NotificationSettingsInput = builder.inputType('NotificationSettingsInput', {
  description: 'New notification settings.',
  fields: (t) => ({
    emails: t.boolean({ required: true, description: 'Whether to send notifications by email.' }),
  }),
});

builder.mutationFields((t) => ({
  markNotificationsRead: t.field({
    type: MarkNotificationsReadPayload,
    ...managersOnly,
    description: "Marks the caller's notifications as read: all of the project, unless arguments select some.",
    args: {
      ids: t.arg.idList({ description: 'Only these; ids of other notifications are ignored.' }),
      through: t.arg.id({
        description: 'Only this one and those before it, so that one that has just arrived stays unread.',
      }),
    },
    resolve: async (_root, marked, context) => ({
      ids: await markRead(callerProject(context), authenticated(context).id, marked),
    }),
  }),
  updateNotificationSettings: t.field({
    type: UpdateNotificationSettingsPayload,
    skipTypeScopes: true,
    description: 'Changes the notification settings of the signed-in user, for all projects.',
    args: { input: t.arg({ type: NotificationSettingsInput, required: true, description: 'The settings.' }) },
    resolve: async (_root, { input }, context) => {
      await updateSettings(person(context), input);
      return input;
    },
  }),
}));
