import { Alert, Button, Card, Group, NumberInput, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconClock, IconPlayerPause, IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useMay, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { DescriptionList } from '../../components/description-list.tsx';
import { Stat, Stats } from '../../components/stats.tsx';
import { FormProblem } from '../../components/form.tsx';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { EmailPreview } from '../../components/email-preview.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Page, Section } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { WorkflowLink } from '../../components/workflow-link.tsx';
import { AUDIENCES } from '../audience/contact-filters.tsx';
import { RetryActions } from './retry-actions.tsx';
import type { CampaignRow } from './campaign.tsx';
import { CampaignMenu } from './campaign-menu.tsx';
import {
  countedWords,
  countOf,
  duration,
  number,
  ofReached,
  percent,
  reachOf,
  STATUS_LABELS,
} from './campaign-labels.ts';
import { Hours } from './hours.tsx';
import { Links } from './links.tsx';
import { StateBar } from './state-bar.tsx';
import { usePace } from './pace.ts';

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

const ACKNOWLEDGE = graphql(`
  mutation AcknowledgeCampaign($id: ID!) {
    acknowledgeCampaign(id: $id) {
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

const CHANGE_RATE = graphql(`
  mutation ChangeRate($id: ID!, $rate: Int) {
    updateCampaign(id: $id, input: { ratePerSecond: $rate }) {
      id
    }
  }
`);

const SENT_TEMPLATE = graphql(`
  query SentTemplate($id: ID!) {
    template(id: $id) {
      id
      name
    }
  }
`);

/** A started campaign: progress, engagement and content. */
export function Running({ campaign, back }: { campaign: CampaignRow; back: ReactNode }) {
  const { id: projectId } = useProject();
  const [tone, word] = STATUS_LABELS[campaign.status];
  const { unknown } = campaign.progress;
  const mayWrite = useMay()('write');
  return (
    <Page
      title={campaign.name}
      back={back}
      mark={<StatusBadge tone={tone}>{word}</StatusBadge>}
      about={campaign.subject}
      actions={
        <>
          <WorkflowLink url={campaign.workflowUrl} />
          {mayWrite && <CampaignMenu campaign={campaign} />}
          <Commands campaign={campaign} />
        </>
      }
    >
      {campaign.status === 'paused' && campaign.pauseReason !== null && (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="Paused automatically">
          {campaign.pauseReason}
        </Alert>
      )}
      {campaign.status === 'completed' && campaign.blocksSender && <Blocking campaign={campaign} />}
      {campaign.waitingReason !== null && (
        <Alert color="blue" icon={<IconClock aria-hidden />} title="Waiting">
          {campaign.waitingReason}
          {campaign.waitingUntil !== null && (
            <>
              {' '}
              It resumes <When at={campaign.waitingUntil} />.
            </>
          )}
        </Alert>
      )}
      <Section title="Progress">
        <Card>
          <Stack>
            <Sentence campaign={campaign} />
            <StateBar campaign={campaign} />
            {unknown > 0 && (
              <Text size="sm" c="dimmed">
                {countOf(unknown, 'message')} with an unknown outcome: the connection dropped before the server
                confirmed. They are not retried automatically, so that no one gets the email twice.
              </Text>
            )}
            <Group gap="xs">
              <ButtonLink
                variant="default"
                to="/p/$projectId/campaigns/$campaignId/recipients"
                params={{ projectId, campaignId: campaign.id }}
              >
                All recipients
              </ButtonLink>
              <RetryActions campaign={campaign} />
            </Group>
          </Stack>
        </Card>
      </Section>
      <Engagement campaign={campaign} />
      <Hours campaignId={campaign.id} />
      <Links campaignId={campaign.id} />
      <Setup campaign={campaign} />
      {campaign.html !== null && (
        <Section title="Content">
          <Card>
            <EmailPreview html={campaign.html} title="Email preview" />
          </Card>
        </Section>
      )}
    </Page>
  );
}

/** Warns that results after completion blocked further campaigns from this domain until a user allows them. */
function Blocking({ campaign: { id, pauseReason } }: { campaign: CampaignRow }) {
  const acknowledge = useApiMutation(ACKNOWLEDGE);
  const may = useMay();
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="Campaigns from this domain are paused">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{pauseReason} Clean up your audience before you send again.</Text>
        <FormProblem problem={acknowledge.problem} />
        {may('write') && (
          <Button variant="default" loading={acknowledge.running} onClick={() => void acknowledge.run({ id })}>
            Allow campaigns again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** Formats a rate, per second or per minute. */
function speed(perSecond: number): string {
  if (perSecond >= 10) return `${Math.round(perSecond)}/s`;
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  return `${Math.max(1, Math.round(perSecond * 60))} a minute`;
}

/** A progress summary: percentage, rate and time left. */
function Sentence({ campaign }: { campaign: CampaignRow }) {
  const { status, recipientCount, progress, startedAt, completedAt } = campaign;
  const open = progress.planned + progress.claimed;
  const pace = usePace(recipientCount - open, status === 'sending', startedAt);
  const done = `${number(recipientCount - open)} of ${number(recipientCount)}`;
  const rate = pace === undefined || pace === 0 ? undefined : pace;
  return (
    <Text fw={550} aria-live="polite">
      {status === 'sending' && open > 0 && (
        <>
          Sending: {done} done
          {rate !== undefined && `, ${speed(rate)}`}
          {rate !== undefined && `, about ${duration(open / rate)} left`}
          {pace === 0 && '. Sending has stalled; see the mail server’s responses under Recipients'}.
        </>
      )}
      {status === 'sending' && open === 0 && <>All messages are sent. Finishing up.</>}
      {status === 'paused' && <>Paused: {done} done. Nothing is sent until you resume.</>}
      {status === 'completed' && startedAt !== null && completedAt !== null && (
        <>
          {number(progress.accepted)} of {number(recipientCount)} sent in{' '}
          {duration((Date.parse(completedAt) - Date.parse(startedAt)) / 1000)}, ended <When at={completedAt} />.
        </>
      )}
      {status === 'canceled' && (
        <>
          Canceled: {number(progress.accepted)} of {number(recipientCount)} were sent.
        </>
      )}
    </Text>
  );
}

function Engagement({ campaign: { engagement, trackOpens, trackClicks } }: { campaign: CampaignRow }) {
  const { sent, delivered, opened, openedByMachines, clicked, clickedByMachines, bounced, complained, unsubscribed } =
    engagement;
  const reach = reachOf(engagement);
  return (
    <Stats label="Engagement">
      {reach.word === 'accepted' ? (
        <Stat label="Accepted" value={sent} detail="delivery not reported" />
      ) : (
        <Stat label="Delivered" value={delivered} detail={`${percent(delivered, sent)} of ${number(sent)} sent`} />
      )}
      {trackOpens === false ? (
        <Stat label="Opened" value="–" detail="not tracked" />
      ) : (
        <Stat label="Opened" value={opened} detail={ofReached(opened, reach, openedByMachines)} />
      )}
      {trackClicks === false ? (
        <Stat label="Clicked" value="–" detail="not tracked" />
      ) : (
        <Stat label="Clicked" value={clicked} detail={ofReached(clicked, reach, clickedByMachines)} />
      )}
      <Stat
        label="Bounced"
        value={bounced}
        detail={`${percent(bounced, sent)} of sent`}
        tone={sent > 0 && bounced / sent >= 0.02 ? 'bad' : undefined}
      />
      <Stat
        label="Complained"
        value={complained}
        detail={ofReached(complained, reach)}
        tone={reach.count > 0 && complained / reach.count >= 0.001 ? 'bad' : undefined}
      />
      <Stat label="Unsubscribed" value={unsubscribed} detail={ofReached(unsubscribed, reach)} />
    </Stats>
  );
}

function Setup({ campaign }: { campaign: CampaignRow }) {
  const { data } = useApiQuery(AUDIENCES, {});
  const names = [
    ...(data?.groups.nodes ?? []).filter(({ id }) => campaign.groupIds.includes(id)),
    ...(data?.segments.nodes ?? []).filter(({ id }) => campaign.segmentIds.includes(id)),
  ].map(({ name }) => name);
  const { fromName, fromEmail, replyTo, startedAt, completedAt, ratePerSecond } = campaign;
  return (
    <Section title="Setup">
      <Card>
        <DescriptionList
          items={[
            ['Sender', fromName === null ? fromEmail : `${fromName} <${fromEmail ?? ''}>`],
            replyTo !== null && ['Reply-to', replyTo],
            ['Audience', names.length === 0 ? 'Deleted groups and segments' : names.join(', ')],
            ['Rate', ratePerSecond === null ? 'As fast as the provider accepts' : `At most ${ratePerSecond} a second`],
            campaign.templateId !== null && ['Content', <SentTemplate key="content" campaign={campaign} />],
            campaign.trackOpens !== null &&
              campaign.trackClicks !== null && ['Tracked', countedWords(campaign.trackOpens, campaign.trackClicks)],
            startedAt !== null && ['Started', <When key="started" at={startedAt} />],
            completedAt !== null && ['Ended', <When key="ended" at={completedAt} />],
          ]}
        />
      </Card>
    </Section>
  );
}

/** The template and version sent. */
function SentTemplate({ campaign: { templateId, templateVersion } }: { campaign: CampaignRow }) {
  const { id: projectId } = useProject();
  const template = useApiQuery(SENT_TEMPLATE, { id: templateId ?? '' }).data?.template;
  if (template === undefined) return 'Template';
  if (templateVersion === null) return template.name;
  return (
    <TextLink
      to="/p/$projectId/templates/$templateId/versions"
      params={{ projectId, templateId: template.id }}
      search={{ version: templateVersion }}
      size="sm"
    >
      {template.name}, version {templateVersion}
    </TextLink>
  );
}

function Commands({ campaign: { id, name, status, ratePerSecond, progress } }: { campaign: CampaignRow }) {
  const [asking, setAsking] = useState<'cancel' | 'rate'>();
  const pause = useApiMutation(PAUSE);
  const resume = useApiMutation(RESUME);
  const cancel = useApiMutation(CANCEL);
  const may = useMay();
  if (!may('write') || (status !== 'sending' && status !== 'paused')) return null;
  const close = () => setAsking(undefined);
  const confirmCancel = async () => {
    if ((await cancel.run({ id })) === undefined) return;
    notifySuccess(`${name} is canceled.`);
    close();
  };
  return (
    <>
      <FormProblem problem={pause.problem ?? resume.problem} />
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
        word={name}
        running={cancel.running}
        problem={cancel.problem}
        onConfirm={() => void confirmCancel()}
      >
        {countOf(progress.planned, 'recipient')} will not receive it. A canceled campaign cannot be restarted.
      </Confirm>
      <ChangeRate key={String(ratePerSecond)} id={id} rate={ratePerSecond} opened={asking === 'rate'} onClose={close} />
    </>
  );
}

function ChangeRate({
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
    <Confirm
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
    </Confirm>
  );
}
