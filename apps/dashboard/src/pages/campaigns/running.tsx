import { Alert, Button, Card, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconClock } from '@tabler/icons-react';
import { type ReactNode, Suspense } from 'react';
import { lazyPage } from '../../app/lazy-page.ts';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { countOf } from '../../components/numbers.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { EmailPreview } from '../../components/email-preview.tsx';
import { FormProblem } from '../../components/form.tsx';
import { ButtonLink } from '../../components/link.tsx';
import { Page, Section } from '../../components/page.tsx';
import { useSampleContact } from '../../components/use-sample-contact.ts';
import { When } from '../../components/when.tsx';
import { RetryActions } from './retry-actions.tsx';
import type { CampaignRow } from './campaign-row.ts';
import { CampaignMenu } from './campaign-menu.tsx';
import { STATUS_LABELS } from './campaign-labels.ts';
import { Engagement } from './engagement.tsx';
import { Hours } from './hours.tsx';
import { Links } from './links.tsx';
import { Minutes } from './minutes.tsx';
import { ProgressSummary } from './progress-summary.tsx';
import { Setup } from './setup.tsx';
import { StateBar } from './state-bar.tsx';

/** Reports of campaigns that have ended, which are opened more often, load without what controls one. */
const RunCommands = lazyPage(() => import('./run-commands.tsx'), 'RunCommands', { forms: false });

const ACKNOWLEDGE = graphql(`
  mutation AcknowledgeCampaign($id: ID!) {
    acknowledgeCampaign(id: $id) {
      id
    }
  }
`);

/** A started campaign: progress, engagement and content. */
export function Running({ campaign, back }: { campaign: CampaignRow; back: ReactNode }) {
  const { id: projectId } = useProject();
  const [tone, label] = STATUS_LABELS[campaign.status];
  const { unknown } = campaign.progress;
  const canWrite = usePermission('write');
  const isRunning = campaign.status === 'sending' || campaign.status === 'paused';
  const { values } = useSampleContact();
  return (
    <Page
      title={campaign.name}
      back={back}
      mark={<StatusBadge tone={tone}>{label}</StatusBadge>}
      about={campaign.subject}
      actions={
        <>
          {canWrite && <CampaignMenu campaign={campaign} />}
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
            <ProgressSummary campaign={campaign} />
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

/** Warns that results after completion blocked further campaigns from this domain until a user allows them. */
function Blocking({ campaign: { id, pauseReason } }: { campaign: CampaignRow }) {
  const acknowledge = useApiMutation(ACKNOWLEDGE);
  const canWrite = usePermission('write');
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="Campaigns from this domain are paused">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{pauseReason} Clean up your audience before you send again.</Text>
        <FormProblem problem={acknowledge.problem} />
        {canWrite && (
          <Button variant="default" loading={acknowledge.running} onClick={() => void acknowledge.run({ id })}>
            Allow campaigns again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
