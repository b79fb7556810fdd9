import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';

/** Why the mailbox that a form has saved is not connected. */
export function ConnectionProblem({
  title,
  of: { statusReason },
}: {
  title: string;
  of: { statusReason: string | null };
}) {
  return (
    <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />} title={title} className="breakable">
      {statusReason ?? 'The mail server gave no reason.'}
    </Alert>
  );
}
