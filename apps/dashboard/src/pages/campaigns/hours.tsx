import { Card, Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { Section } from '../../components/page.tsx';
import { TIME_ZONE } from '../../components/when.tsx';

const HOURS = graphql(`
  query CampaignHours($id: ID!) {
    campaignHours(id: $id) {
      at
      opened
      clicked
      unsubscribed
    }
  }
`);

const HoursChart = lazy(() => import('./hours-chart.tsx'));

/** Opens, clicks and unsubscribes by hour; hidden until there are any. */
export function Hours({ campaignId }: { campaignId: string }) {
  const hours = useApiQuery(HOURS, { id: campaignId }).data?.campaignHours ?? [];
  if (!hours.some(({ opened, clicked, unsubscribed }) => opened + clicked + unsubscribed > 0)) return null;
  return (
    <Section title="By hour" about={`Engagement in the first three days. Time zone: ${TIME_ZONE}.`}>
      <Card component="figure" m={0} aria-label="Opens, clicks and unsubscribes by hour">
        <Suspense fallback={<Skeleton h={240} />}>
          <HoursChart hours={hours} />
        </Suspense>
      </Card>
    </Section>
  );
}
