import { notifications } from '@mantine/notifications';
import { IconCheck } from '@tabler/icons-react';

/** Says in a corner that something was done; one outcome per act, and refusals stand where the act was asked for. */
export function tell(message: string): void {
  notifications.show({ message, color: 'green', icon: <IconCheck size={18} aria-hidden />, autoClose: 4000 });
}
