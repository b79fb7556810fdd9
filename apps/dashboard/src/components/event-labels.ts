import {
  IconAlertTriangle,
  IconBan,
  IconClick,
  IconClock,
  IconEye,
  IconFlag,
  IconInbox,
  IconMailOff,
  IconSend,
  IconUserPlus,
  IconX,
} from '@tabler/icons-react';

/** The label, icon and color of each event type. */
export const EVENT_LABELS: Record<string, [word: string, icon: typeof IconSend, color: string]> = {
  'contact.created': ['Added', IconUserPlus, 'pine'],
  'contact.suppressed': ['Suppressed', IconBan, 'yellow'],
  'contact.unsubscribed': ['Unsubscribed via link', IconMailOff, 'yellow'],
  'email.queued': ['Queued', IconClock, 'gray'],
  'email.sent': ['Sent', IconSend, 'blue'],
  'email.delivered': ['Delivered', IconInbox, 'green'],
  'email.opened': ['Opened', IconEye, 'green'],
  'email.clicked': ['Clicked a link', IconClick, 'green'],
  'email.bounced': ['Bounced', IconAlertTriangle, 'red'],
  'email.complained': ['Marked as spam', IconFlag, 'red'],
  'email.rejected': ['Rejected by the provider', IconX, 'red'],
  'email.failed': ['Refused', IconX, 'red'],
  'email.deferred': ['Deferred by the server; retrying', IconClock, 'yellow'],
  'email.suppressed': ['Not sent: address suppressed', IconBan, 'gray'],
  'email.canceled': ['Not sent: canceled', IconBan, 'gray'],
  'email.unknown': ['Outcome unknown', IconAlertTriangle, 'yellow'],
};
