import { Button } from '@mantine/core';
import { IconPencil, IconPlayerPause, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { countOf } from '../../components/numbers.ts';
import { Confirm } from '../../components/confirm.tsx';
import { FormProblem } from '../../components/form.tsx';
import { lazyDialog } from '../../components/lazy-dialog.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import type { CampaignRow } from './campaign-row.ts';
import { inCampaignWords } from './findings.ts';
import { UNSCHEDULE } from './unschedule.ts';

const PAUSE = graphql(`
  mutation PauseCampaign($id: ID!) {
    pauseCampaign(id: $id) {
      id
    }
  }
`);

const RESUME = graphql(`
  mutation ResumeCampaign($id: ID!) {
    resumeCampaign(id: $id) {
      id
    }
  }
`);

const CANCEL = graphql(`
  mutation CancelCampaign($id: ID!) {
    cancelCampaign(id: $id) {
      id
    }
  }
`);

const ChangeAudience = lazyDialog(async () => (await import('./change-audience.tsx')).ChangeAudience);
const ChangeRate = lazyDialog(async () => (await import('./change-rate.tsx')).ChangeRate);

/** Pauses, resumes, cancels or slows down a campaign that is sending; one that could not start can be edited again. */
export function RunCommands({ campaign }: { campaign: CampaignRow }) {
  const { id, name, status, startedAt, abTestId, ratePerSecond, progress } = campaign;
  const [asking, setAsking] = useState<'audience' | 'cancel' | 'rate'>();
  const pause = useApiMutation(PAUSE);
  const resume = useApiMutation(RESUME);
  const cancel = useApiMutation(CANCEL);
  const unschedule = useApiMutation(UNSCHEDULE);
  const isUnstarted = status === 'paused' && startedAt === null;
  const close = () => setAsking(undefined);
  const makeDraft = async () => {
    if ((await unschedule.run({ id })) !== undefined) notifySuccess(`${name} is a draft again.`);
  };
  const confirmCancel = async () => {
    if ((await cancel.run({ id })) === undefined) return;
    notifySuccess(`${name} is canceled.`);
    close();
  };
  return (
    <>
      <FormProblem problem={pause.problem ?? inCampaignWords(resume.problem) ?? unschedule.problem} />
      <Button variant="default" onClick={() => setAsking('rate')}>
        Rate
      </Button>
      <Button
        variant="default"
        leftSection={<IconPlayerStop size={16} aria-hidden />}
        onClick={() => setAsking('cancel')}
      >
        Cancel
      </Button>
      {isUnstarted && abTestId !== null && (
        <Button
          variant="default"
          leftSection={<IconPencil size={16} aria-hidden />}
          onClick={() => setAsking('audience')}
        >
          Audience
        </Button>
      )}
      {isUnstarted && abTestId === null && (
        <Button
          variant="default"
          leftSection={<IconPencil size={16} aria-hidden />}
          loading={unschedule.running}
          onClick={() => void makeDraft()}
        >
          Edit
        </Button>
      )}
      {status === 'sending' ? (
        <Button
          leftSection={<IconPlayerPause size={16} aria-hidden />}
          loading={pause.running}
          onClick={() => void pause.run({ id })}
        >
          Pause
        </Button>
      ) : (
        <Button
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          loading={resume.running}
          onClick={() => void resume.run({ id })}
        >
          Resume
        </Button>
      )}
      <Confirm
        opened={asking === 'cancel'}
        onClose={close}
        title="Cancel this campaign?"
        action="Cancel campaign"
        confirmationText={name}
        running={cancel.running}
        problem={cancel.problem}
        onConfirm={() => void confirmCancel()}
      >
        Up to {countOf(progress.planned + progress.claimed, 'recipient')} will not receive it. A canceled campaign
        cannot be restarted.
      </Confirm>
      <ChangeAudience key={campaign.version} campaign={campaign} opened={asking === 'audience'} onClose={close} />
      <ChangeRate key={String(ratePerSecond)} id={id} rate={ratePerSecond} opened={asking === 'rate'} onClose={close} />
    </>
  );
}
