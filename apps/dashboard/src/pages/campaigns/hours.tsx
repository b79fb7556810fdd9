import { Card } from '@mantine/core';
import { lazy } from 'react';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { ChartFigure } from '../../components/chart-figure.tsx';
import { Section } from '../../components/page.tsx';
import { formatDayAndTime, TIME_ZONE } from '../../components/when.tsx';
import { number } from './campaign-labels.ts';

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
      <Card>
        <ChartFigure
          title="Opens, clicks and unsubscribes by hour"
          columns={['Hour', 'Opened', 'Clicked', 'Unsubscribed']}
          rows={hours.map(({ at, opened, clicked, unsubscribed }) => [
            formatDayAndTime(at),
            number(opened),
            number(clicked),
            number(unsubscribed),
          ])}
        >
          <HoursChart hours={hours} />
        </ChartFigure>
      </Card>
    </Section>
  );
}
