import { Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';

const REPLAY = graphql(`
  mutation ReplayFailed($id: ID!, $since: DateTime!) {
    webhookEndpointReplayFailed(id: $id, since: $since) {
      replayed
    }
  }
`);

const HOURS = { '1': 'The last hour', '24': 'The last 24 hours', '168': 'The last 7 days', '720': 'The last 30 days' };

/** Replays failed deliveries of an endpoint. Each is replayed once, however often this runs. */
export function ReplayFailed({
  endpointId,
  opened,
  onClose,
}: {
  endpointId: string;
  opened: boolean;
  onClose: () => void;
}) {
  const replay = useApiMutation(REPLAY);
  const [hours, setHours] = useState('24');
  const confirm = async () => {
    const since = new Date(Date.now() - Number(hours) * 3_600_000).toISOString();
    const data = await replay.run({ id: endpointId, since });
    if (data === undefined) return;
    const count = data.webhookEndpointReplayFailed.replayed;
    notifySuccess(
      count === 0 ? 'No failed deliveries in that period.' : `${count.toLocaleString()} queued for replay.`,
    );
    onClose();
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Replay failed deliveries?"
      action="Replay"
      harmless
      running={replay.running}
      problem={replay.problem}
      onConfirm={() => void confirm()}
    >
      <Radio.Group
        label="Failed within"
        description="Endpoints may receive an event twice; they can deduplicate by event ID."
        value={hours}
        onChange={setHours}
      >
        <Stack gap="xs" mt="xs">
          {Object.entries(HOURS).map(([value, label]) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Stack>
      </Radio.Group>
    </Confirm>
  );
}
