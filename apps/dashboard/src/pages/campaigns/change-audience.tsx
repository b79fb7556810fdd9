import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { AudienceSelects } from './audience.tsx';
import type { CampaignDialogProps } from './campaign-row.ts';
import { inCampaignWords } from './findings.ts';

const CHANGE_AUDIENCE = graphql(`
  mutation ChangeAudience($id: ID!, $input: UpdateCampaignInput!) {
    updateCampaign(id: $id, input: $input) {
      id
    }
  }
`);

/** Changes the audience of the winner of an A/B test that could not start. */
export function ChangeAudience({
  campaign: { id, version, groupIds, segmentIds, excludedGroupIds, excludedSegmentIds },
  opened,
  onClose,
}: CampaignDialogProps) {
  const change = useApiMutation(CHANGE_AUDIENCE);
  const [wanted, setWanted] = useState({ groupIds, segmentIds, excludedGroupIds, excludedSegmentIds });
  const confirm = async () => {
    if ((await change.run({ id, input: { ...wanted, version } })) === undefined) return;
    notifySuccess('Audience updated.');
    onClose();
  };
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="Audience"
      action="Update audience"
      running={change.running}
      problem={inCampaignWords(change.problem)}
      onConfirm={() => void confirm()}
      harmless
    >
      <AudienceSelects draft={wanted} set={(changes) => setWanted({ ...wanted, ...changes })} />
    </ConfirmDialog>
  );
}
