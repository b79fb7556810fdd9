import { Card } from '@mantine/core';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { Chart } from '../../components/chart.tsx';
import { ChartFigure, ChartSkeleton } from '../../components/chart-figure.tsx';
import { Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { formatDayAndTime, TIME_ZONE } from '../../components/when.tsx';
import type { CampaignRow } from './campaign-row.ts';
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

/** Opens, clicks and unsubscribes by hour; hidden until there are any. */
export function Hours({ campaign: { id, engagement } }: { campaign: CampaignRow }) {
  const query = useApiQuery(HOURS, { id });
  const any = ({ opened, clicked, unsubscribed }: Record<'opened' | 'clicked' | 'unsubscribed', number>) =>
    opened + clicked + unsubscribed > 0;
  if (!(query.data?.campaignHours ?? [engagement]).some(any)) return null;
  return (
    <Section title="By hour" about={`Engagement in the first three days. Time zone: ${TIME_ZONE}.`}>
      <QueryResult of={query} skeleton={<ChartSkeleton />}>
        {({ campaignHours }) => (
          <Card>
            <ChartFigure
              title="Opens, clicks and unsubscribes by hour"
              columns={['Hour', 'Opened', 'Clicked', 'Unsubscribed']}
              rows={campaignHours.map(({ at, opened, clicked, unsubscribed }) => [
                formatDayAndTime(at),
                number(opened),
                number(clicked),
                number(unsubscribed),
              ])}
            >
              <Chart
                kind="areas"
                points={campaignHours.map((point) => ({ ...point, when: formatDayAndTime(point.at) }))}
                series={[
                  { name: 'opened', label: 'Opened', color: 'blue.5' },
                  { name: 'clicked', label: 'Clicked', color: 'grape.5' },
                  { name: 'unsubscribed', label: 'Unsubscribed', color: 'yellow.5' },
                ]}
              />
            </ChartFigure>
          </Card>
        )}
      </QueryResult>
    </Section>
  );
}
