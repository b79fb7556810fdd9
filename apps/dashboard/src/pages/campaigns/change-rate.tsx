import { NumberInput } from '@mantine/core';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { notifySuccess } from '../../components/notify.tsx';

const CHANGE_RATE = graphql(`
  mutation ChangeRate($id: ID!, $rate: Int) {
    updateCampaign(id: $id, input: { ratePerSecond: $rate }) {
      id
    }
  }
`);

/** Changes how fast a campaign is sent. */
export function ChangeRate({
  id,
  rate,
  opened,
  onClose,
}: {
  id: string;
  rate: number | null;
  opened: boolean;
  onClose: () => void;
}) {
  const change = useApiMutation(CHANGE_RATE);
  const [wanted, setWanted] = useState<number | string>(rate ?? '');
  const confirm = async () => {
    if ((await change.run({ id, rate: wanted === '' ? null : Number(wanted) })) === undefined) return;
    notifySuccess('Sending rate updated.');
    onClose();
  };
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="Sending rate"
      action="Update rate"
      running={change.running}
      problem={change.problem}
      onConfirm={() => void confirm()}
      harmless
    >
      <NumberInput
        label="Maximum messages per second"
        description="Leave blank to send as fast as the provider accepts."
        min={1}
        max={100_000}
        value={wanted}
        onChange={setWanted}
        data-autofocus
      />
    </ConfirmDialog>
  );
}
