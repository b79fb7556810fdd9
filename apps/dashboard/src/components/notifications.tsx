import '@mantine/core/styles/Notification.css';
import '@mantine/notifications/styles.css';
import '../app/notifications.css';
import { notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';

export { Notifications } from '@mantine/notifications';

export function showDone(message: string): void {
  notifications.show({ message, color: 'green', icon: <IconCheck size={18} aria-hidden />, autoClose: 4000 });
}

export function showProblem(message: string): void {
  notifications.show({ message, color: 'red', icon: <IconAlertTriangle size={18} aria-hidden />, autoClose: 8000 });
}
