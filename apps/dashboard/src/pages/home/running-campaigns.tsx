import { Card, Group, Progress, Stack, Text } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import { useLive } from '../../data/live.ts';
import { graphql } from '../../generated/gql.ts';
import { TextLink } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { number } from '../campaigns/campaign-labels.ts';
import type { Overview } from './overview.ts';

const PROGRESS = graphql(`
  subscription RunningProgress($id: ID!) {
    campaignProgress(id: $id) {
      id
    }
  }
`);

/** Running campaigns with their progress. */
export function RunningCampaigns({ campaigns }: { campaigns: Overview['sending']['nodes'] }) {
  const { id: projectId } = useProject();
  const [first] = campaigns;
  // One stream refetches all of them, to save browser connections.
  useLive(PROGRESS, { id: first?.id ?? '' }, { pause: first === undefined });
  if (first === undefined) return null;
  return (
    <Section title="Sending now">
      <Card>
        <Stack>
          {campaigns.map(({ id, name, recipientCount, countingRecipients, progress }) => {
            const done = recipientCount - progress.planned - progress.claimed;
            return (
              <Stack key={id} gap={6}>
                <Group justify="space-between" gap="xs">
                  <TextLink
                    to="/p/$projectId/campaigns/$campaignId"
                    params={{ projectId, campaignId: id }}
                    size="sm"
                    fw={550}
                  >
                    {name}
                  </TextLink>
                  <Text size="sm" c="dimmed" className="tabular">
                    {number(done)} of {number(recipientCount)}
                    {countingRecipients && ' so far'}
                  </Text>
                </Group>
                <Progress
                  value={recipientCount === 0 ? 0 : (done / recipientCount) * 100}
                  aria-label={`${name}: ${done} of ${recipientCount}`}
                />
              </Stack>
            );
          })}
        </Stack>
      </Card>
    </Section>
  );
}
