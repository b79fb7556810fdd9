import { Alert, Card, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconClock } from '@tabler/icons-react';
import { type ReactNode, Suspense } from 'react';
import { lazyPage } from '../../app/lazy-page.ts';
import { usePermission, useProject } from '../../app/session.tsx';
import { countOf } from '../../components/numbers.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { EmailPreview } from '../../components/email-preview.tsx';
import { ButtonLink } from '../../components/link.tsx';
import { MoreMenu } from '../../components/more-menu.tsx';
import { Page, Section } from '../../components/page.tsx';
import { useSampleContact } from '../../components/use-sample-contact.ts';
import { When } from '../../components/when.tsx';
import { RetryActions } from './retry-actions.tsx';
import type { CampaignRow } from './campaign-row.ts';
import { STATUS_LABELS } from './campaign-labels.ts';
import { Engagement } from './engagement.tsx';
import { Hours } from './hours.tsx';
import { Links } from './links.tsx';
import { Minutes } from './minutes.tsx';
import { ProgressSummary } from './progress-summary.tsx';
import { Setup } from './setup.tsx';
import { StateBar } from './state-bar.tsx';
import { useDuplicate } from './use-duplicate.ts';

/** Reports of campaigns that have ended, which are opened more often, load without what controls one, or warns of one. */
const RunCommands = lazyPage(() => import('./run-commands.tsx'), 'RunCommands', { forms: false });
const Blocking = lazyPage(() => import('./blocking.tsx'), 'Blocking', { forms: false });

/** A started campaign: progress, engagement and content. */
export function Running({ campaign, back }: { campaign: CampaignRow; back: ReactNode }) {
  const { id: projectId } = useProject();
  const [tone, label] = STATUS_LABELS[campaign.status];
  const { unknown } = campaign.progress;
  const canWrite = usePermission('write');
  const isRunning = campaign.status === 'sending' || campaign.status === 'paused';
  const { values } = useSampleContact();
  const duplicate = useDuplicate(campaign);
  return (
    <Page
      title={campaign.name}
      back={back}
      mark={<StatusBadge tone={tone}>{label}</StatusBadge>}
      about={campaign.subject}
      actions={
        <>
          {canWrite && (
            <MoreMenu
              name={campaign.name}
              duplicate={{ run: () => void duplicate.run(), running: duplicate.running }}
            />
          )}
          {canWrite && isRunning && (
            <Suspense>
              <RunCommands campaign={campaign} />
            </Suspense>
          )}
        </>
      }
    >
      {campaign.status === 'paused' && campaign.pauseReason !== null && (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="Paused automatically">
          {campaign.pauseReason}
        </Alert>
      )}
      {campaign.status === 'completed' && campaign.blocksSender && (
        <Suspense>
          <Blocking campaign={campaign} />
        </Suspense>
      )}
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
            <ProgressSummary campaign={campaign} />
            {campaign.recipientCount > 0 && <StateBar campaign={campaign} />}
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
              <RetryActions campaign={campaign} duplicate={duplicate.run} />
            </Group>
          </Stack>
        </Card>
      </Section>
      <Engagement campaign={campaign} />
      <Minutes campaign={campaign} />
      <Hours campaign={campaign} />
      <Links campaign={campaign} />
      <Setup campaign={campaign} />
      {campaign.html !== null && (
        <Section title="Content">
          <Card>
            <EmailPreview html={campaign.html} title="Email preview" values={values}>
              <Text size="sm">Preview as {values.email}</Text>
            </EmailPreview>
          </Card>
        </Section>
      )}
    </Page>
  );
}
