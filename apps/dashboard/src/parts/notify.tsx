import { notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';

/** Says in a corner that something was done; one outcome per act, and refusals stand where the act was asked for. */
export function tell(message: string): void {
  notifications.show({ message, color: 'green', icon: <IconCheck size={18} aria-hidden />, autoClose: 4000 });
}

/** Says that something did not work, where there is no form to say it in. */
export function warn(message: string): void {
  notifications.show({ message, color: 'red', icon: <IconAlertTriangle size={18} aria-hidden />, autoClose: 8000 });
}
