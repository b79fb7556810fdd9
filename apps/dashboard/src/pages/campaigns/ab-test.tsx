import { Alert, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconClock, IconTrophy } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { RowLink, TextLink } from '../../components/link.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { DataTable, NONE } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { useLive } from '../../data/live.ts';
import { graphql } from '../../generated/gql.ts';
import { AbTestCommands } from './ab-test-commands.tsx';
import { AB_TEST_STATUS, describeDecision, winnerBadge } from './ab-test-labels.ts';
import { AbTestSettings } from './ab-test-settings.tsx';
import { changesOnItsOwn, number, percent, STATUS_LABELS } from './campaign-labels.ts';
import { AB_TEST, type AbTestRow } from './ab-test-row.ts';
import { DeleteVariant } from './delete-variant.tsx';

const PROGRESS = graphql(`
  subscription AbTestProgress($id: ID!) {
    abTestProgress(id: $id) {
      id
    }
  }
`);

type Variant = AbTestRow['variants'][number];

const MIN_VARIANTS = 2;

/** One A/B test: its settings, its variants side by side, and what came of it. */
export function AbTest() {
  const { projectId, abTestId } = useParams({ from: '/auth/p/$projectId/ab-tests/$abTestId' });
  const read = useApiQuery(AB_TEST, { id: abTestId });
  const row = read.data?.abTest;
  const canWrite = usePermission('write');
  useLive(PROGRESS, { id: abTestId }, { pause: row === undefined || hasEnded(row) });
  const test = row === undefined ? undefined : { ...row, name: row.variants[0]?.campaign.name ?? 'A/B test' };
  return (
    <Page
      title={test?.name ?? 'A/B test'}
      about="Each variant goes to a share of the audience, and the best one to the rest."
      mark={
        test !== undefined && (
          <StatusBadge tone={AB_TEST_STATUS[test.status][0]}>{AB_TEST_STATUS[test.status][1]}</StatusBadge>
        )
      }
      actions={test !== undefined && canWrite && <AbTestCommands test={test} />}
      back={
        <TextLink to="/p/$projectId/ab-tests" params={{ projectId }} size="sm">
          <BackLabel>A/B tests</BackLabel>
        </TextLink>
      }
    >
      <QueryResult of={read}>{() => test !== undefined && <Content test={test} />}</QueryResult>
    </Page>
  );
}

/** Whether neither the test nor one of its campaigns will change. */
function hasEnded({ status, variants, finalCampaign }: Omit<AbTestRow, 'name'>): boolean {
  if (status === 'draft' || status === 'testing') return false;
  const campaigns = variants.map(({ campaign }) => campaign);
  return ![...campaigns, ...(finalCampaign === null ? [] : [finalCampaign])].some(changesOnItsOwn);
}

function Content({ test }: { test: AbTestRow }) {
  return (
    <>
      <Outcome test={test} />
      <Section
        title="Variants"
        about={test.status === 'draft' ? 'Open a variant to edit it. The audience is the same for all.' : undefined}
      >
        <VariantTable test={test} />
      </Section>
      <AbTestSettings test={test} />
    </>
  );
}

/** When the winner is chosen, or which one it is and what happens with it. */
function Outcome({
  test: { status, metric, endsAt, winnerId, chosenById, chosenByName, decision, variants, finalCampaign },
}: {
  test: AbTestRow;
}) {
  const { id: projectId } = useProject();
  if (status === 'testing')
    return endsAt === null ? (
      <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="Choose the winner, or cancel the test">
        The database was restored to an earlier time, so no winner is chosen automatically. If one had been chosen after
        that time, the rest of the audience may already have its message and would get it again.
      </Alert>
    ) : (
      <Alert color="blue" icon={<IconClock aria-hidden />}>
        The winner is chosen <When at={endsAt} />. The best rate of {metric} wins, or of equal ones the first.
      </Alert>
    );
  const winner = variants.find(({ campaign }) => campaign.id === winnerId);
  if (winner === undefined) return null;
  const { title, reason } = describeDecision(decision, winner.label, metric);
  return (
    <Alert
      color={title === undefined ? 'green' : 'yellow'}
      icon={<IconTrophy aria-hidden />}
      title={
        title ??
        `Variant ${winner.label} won${chosenById === null ? '' : `, as chosen by ${chosenByName ?? 'a former user'}`}`
      }
    >
      {reason !== undefined && <Text size="sm">{reason}</Text>}
      {finalCampaign === null ? (
        <Text size="sm">Everyone was in the sample, so nothing more is sent.</Text>
      ) : (
        <Stack gap={4} align="flex-start">
          <Group gap="xs">
            <Text size="sm">The rest of the audience:</Text>
            <TextLink
              to="/p/$projectId/campaigns/$campaignId"
              params={{ projectId, campaignId: finalCampaign.id }}
              size="sm"
              underline="always"
            >
              {finalCampaign.name}
            </TextLink>
            <StatusBadge tone={STATUS_LABELS[finalCampaign.status][0]}>
              {STATUS_LABELS[finalCampaign.status][1]}
            </StatusBadge>
          </Group>
          {finalCampaign.pauseReason !== null && <Text size="sm">{finalCampaign.pauseReason}</Text>}
        </Stack>
      )}
    </Alert>
  );
}

function VariantTable({ test }: { test: AbTestRow }) {
  const { variants, metric, leaderId, winnerId, decision } = test;
  const { id: projectId } = useProject();
  const canWrite = usePermission('write');
  const canDelete = canWrite && test.status === 'draft' && variants.length > MIN_VARIANTS;
  const rate = ({ campaign: { engagement, progress } }: Variant, count: 'opened' | 'clicked') =>
    progress.accepted === 0 ? NONE : `${number(engagement[count])} (${percent(engagement[count], progress.accepted)})`;
  // While no one has reacted, no variant leads.
  const counted = metric === 'opens' ? 'opened' : 'clicked';
  const decides = (name: string, by: typeof metric) => (metric === by ? `${name} (decides)` : name);
  return (
    <DataTable
      label="Variants"
      rows={variants}
      keyOf={({ label }) => label}
      columns={[
        {
          title: 'Variant',
          cell: ({ label, campaign }) => (
            <>
              <RowLink to="/p/$projectId/campaigns/$campaignId" params={{ projectId, campaignId: campaign.id }}>
                {label}: {campaign.subject ?? 'No subject yet'}
              </RowLink>
              <Text size="xs" c="dimmed">
                {campaign.name}
                {campaign.fromName !== null && `, from ${campaign.fromName}`}
              </Text>
              {campaign.status === 'paused' && campaign.pauseReason !== null && (
                <Text size="xs" c="var(--mantine-color-error)">
                  {campaign.pauseReason}
                </Text>
              )}
            </>
          ),
        },
        {
          title: 'Status',
          width: 190,
          cell: ({ campaign: { id, status, engagement } }) => (
            <Group gap={6}>
              <StatusBadge tone={STATUS_LABELS[status][0]}>{STATUS_LABELS[status][1]}</StatusBadge>
              {id === winnerId && <StatusBadge tone="good">{winnerBadge(decision)}</StatusBadge>}
              {winnerId === null && id === leaderId && engagement[counted] > 0 && (
                <StatusBadge tone="busy">Leads</StatusBadge>
              )}
            </Group>
          ),
        },
        {
          title: 'Recipients',
          align: 'right',
          cell: ({ campaign }) => (campaign.recipientCount === 0 ? NONE : number(campaign.recipientCount)),
        },
        {
          title: 'Accepted',
          from: 'sm',
          align: 'right',
          cell: ({ campaign }) => (campaign.progress.accepted === 0 ? NONE : number(campaign.progress.accepted)),
        },
        { title: decides('Opens', 'opens'), align: 'right', cell: (variant) => rate(variant, 'opened') },
        { title: decides('Clicks', 'clicks'), align: 'right', cell: (variant) => rate(variant, 'clicked') },
        ...(canDelete
          ? [
              {
                title: 'Delete',
                silent: true,
                align: 'right' as const,
                cell: (variant: Variant) => <DeleteVariant test={test} variant={variant} />,
              },
            ]
          : []),
      ]}
    />
  );
}
