import { Text } from '@mantine/core';
import { countOf } from '../../components/numbers.ts';
import { formatTime, When } from '../../components/when.tsx';
import type { CampaignRow } from './campaign-row.ts';
import { duration, number } from './campaign-labels.ts';
import { PeopleLink } from './people-link.tsx';
import { usePace } from './pace.ts';

/** Formats a rate, per second or per minute. */
function speed(perSecond: number): string {
  if (perSecond >= 10) return `${Math.round(perSecond)}/s`;
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  return `${Math.max(1, Math.round(perSecond * 60))} a minute`;
}

/** A sentence on the progress: what is done, how fast, what is left, and when messages that wait are due. */
export function ProgressSummary({ campaign }: { campaign: CampaignRow }) {
  const { status, recipientCount, countingRecipients, progress, startedAt, completedAt } = campaign;
  const open = progress.planned + progress.claimed;
  const done = `${number(recipientCount - open)} of ${number(recipientCount)}`;
  return (
    <Text fw={550} aria-live="polite">
      {status === 'sending' && open > 0 && <Sending campaign={campaign} done={done} open={open} />}
      {status === 'sending' && recipientCount === 0 && <>Preparing the list of recipients…</>}
      {status === 'sending' && recipientCount > 0 && open === 0 && !countingRecipients && (
        <>All messages are sent. Finishing up.</>
      )}
      {countingRecipients && recipientCount > 0 && <> Recipients are still being counted.</>}
      {status === 'paused' && <>Paused: {done} done. Nothing is sent until you resume.</>}
      {status === 'completed' && progress.accepted === 0 && completedAt !== null && (
        <>
          Nothing was sent{recipientCount === 0 && ', because there were no recipients'}. Ended{' '}
          <When at={completedAt} />.
        </>
      )}
      {status === 'completed' && progress.accepted > 0 && startedAt !== null && completedAt !== null && (
        <>
          {number(progress.accepted)} of {number(recipientCount)} sent in{' '}
          {duration((Date.parse(completedAt) - Date.parse(startedAt)) / 1000)}, ended <When at={completedAt} />.
        </>
      )}
      {status === 'canceled' && (
        <>
          {recipientCount === 0
            ? 'Canceled before anything was sent.'
            : `Canceled: ${number(progress.accepted)} of ${number(recipientCount)} were sent.`}
        </>
      )}
    </Text>
  );
}

/** Messages that wait for their server, or for the local time of their recipient, say nothing about the pace. */
function Sending({ campaign, done, open }: { campaign: CampaignRow; done: string; open: number }) {
  const { recipientCount, startedAt } = campaign;
  const deferred = campaign.deferred?.messages ?? 0;
  const nextRetryAt = campaign.deferred?.nextRetryAt;
  const { awaitingLocalTime } = campaign;
  const awaiting = Math.min(awaitingLocalTime?.messages ?? 0, open - deferred);
  const left = Math.max(0, open - deferred - awaiting);
  const pace = usePace(recipientCount - open, left > 0, startedAt);
  return (
    <>
      Sending: {done} done
      {pace !== undefined && pace > 0 && `, ${speed(pace)}`}
      {pace !== undefined && pace > 0 && !campaign.countingRecipients && `, about ${duration(left / pace)} left`}
      {deferred > 0 && (
        <>
          ,{' '}
          <PeopleLink
            campaign={campaign}
            search={{ outcome: 'deferred' }}
            label="Deferred"
            count={deferred}
            words="deferred"
          />
          {nextRetryAt !== undefined && (
            <>
              , next attempt{' '}
              <time dateTime={nextRetryAt} className="nowrap">
                {formatTime(nextRetryAt)}
              </time>
            </>
          )}
        </>
      )}
      {awaiting > 0 && awaitingLocalTime !== null && (
        <>
          , {number(awaiting)} waiting for the recipient’s local time, the next at{' '}
          <time dateTime={awaitingLocalTime.nextAt} className="nowrap">
            {formatTime(awaitingLocalTime.nextAt)}
          </time>
        </>
      )}
      . {left > 0 && pace === 0 && 'Sending has stalled; see the mail server’s responses under Recipients.'}
      {left === 0 &&
        deferred > 0 &&
        `The mail servers of ${deferred === 1 ? 'this recipient' : `these ${countOf(deferred, 'recipient')}`} asked to try again later.`}
    </>
  );
}
