import { Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { useSingleRun } from '../../components/use-single-run.ts';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { CampaignDialogProps } from './campaign-row.ts';
import type { Duplicate } from './use-duplicate.ts';

const CREATE_SEGMENT = graphql(`
  mutation CreateSegmentOfUnopened($input: CreateSegmentInput!) {
    createSegment(input: $input) {
      id
    }
  }
`);

/** The contacts who were sent a campaign and did nothing with it (docs/reference/segments.md). Some click without loading images. */
const unopened = (campaignId: string) => ({
  and: [
    { field: 'sent', op: 'ever', campaignId },
    { field: 'opened', op: 'never', campaignId },
    { field: 'clicked', op: 'never', campaignId },
  ],
});

/** Makes a draft copy of a campaign for those who did not open it, by a segment that is saved for it. */
export function ResendUnopened({
  campaign,
  duplicate,
  opened,
  onClose,
}: CampaignDialogProps & { duplicate: Duplicate }) {
  const [name, setName] = useState(`${campaign.name.slice(0, 120).toWellFormed()}: not opened`);
  // Kept if only the copy failed, so that another attempt does not find the name taken.
  const [saved, setSaved] = useState<string>();
  const create = useApiMutation(CREATE_SEGMENT);
  const [running, runOnce] = useSingleRun();
  const confirm = () =>
    runOnce(async () => {
      const made = saved ?? (await create.run({ input: { name, filter: unopened(campaign.id) } }))?.createSegment.id;
      if (made === undefined) return;
      setSaved(made);
      const message = 'This copy goes to those who have not opened it. Change its subject, then review and send it.';
      if (await duplicate({ suffix: '(resend)', segmentIds: [made], message })) onClose();
    });
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="Resend to those who did not open it?"
      action="Create draft"
      harmless
      disabled={name.trim() === ''}
      running={running}
      problem={create.problem}
      onConfirm={() => void confirm()}
    >
      <Stack gap="sm">
        <div>
          This creates a draft copy, and as its audience a segment of contacts who were sent this campaign and have
          neither opened it nor clicked in it. The segment stays current until the copy is sent.
        </div>
        <div>
          Opens by bots such as privacy proxies don’t count, and some mail programs block images, so a few will have
          read it.
        </div>
        <TextInput
          label="Name of the segment"
          value={name}
          readOnly={saved !== undefined}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </Stack>
    </ConfirmDialog>
  );
}
