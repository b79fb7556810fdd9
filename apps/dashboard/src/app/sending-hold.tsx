import { Alert, Text } from '@mantine/core';
import { IconPlayerPause } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import { formatDayAndTime } from '../components/when.tsx';
import { graphql } from '../generated/gql.ts';
import type { SendingHoldQuery } from '../generated/graphql.ts';
import { usePermission } from './session.tsx';
import { WIDE } from '../components/page.tsx';

const SENDING_HOLD = graphql(`
  query SendingHold {
    sendingHold {
      reason
      since
      remedy
      acceptsMail
    }
  }
`);

/** The first page loads before it, and a hold that an operator releases vanishes within this time. In ms. */
const [WAIT_MS, EVERY_MS] = [1_000, 60_000];

/** A banner on every page while the installation sends no mail, for owners and admins. */
export function SendingHoldBanner() {
  const canManage = usePermission('manage');
  const client = useClient();
  const [hold, setHold] = useState<SendingHoldQuery['sendingHold']>(null);
  useEffect(() => {
    if (!canManage) return undefined;
    const check = () => {
      if (document.visibilityState === 'hidden') return;
      void client
        .query(SENDING_HOLD, {}, { requestPolicy: 'network-only' })
        .then(({ data }) => data !== undefined && setHold(data.sendingHold));
    };
    const soon = setTimeout(check, WAIT_MS);
    const timer = setInterval(check, EVERY_MS);
    document.addEventListener('visibilitychange', check);
    return () => {
      clearTimeout(soon);
      clearInterval(timer);
      document.removeEventListener('visibilitychange', check);
    };
  }, [client, canManage]);
  if (hold === null || !canManage) return null;
  return (
    <Alert
      color="red"
      variant="light"
      maw={WIDE}
      mx="auto"
      mb="md"
      role="alert"
      icon={<IconPlayerPause aria-hidden />}
      title={hold.since === null ? 'Sending is held' : `Sending has been held since ${formatDayAndTime(hold.since)}`}
    >
      <Text size="sm" className="breakable">
        {hold.reason} {hold.acceptsMail ? 'Mail is accepted and waits.' : 'No mail and no other change is accepted.'}
      </Text>
      <Text size="sm" mt={4} className="breakable">
        For the operator of this installation: {hold.remedy}
      </Text>
    </Alert>
  );
}
