import { Card } from '@mantine/core';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { countOf } from '../../components/numbers.ts';
import { Chart } from '../../components/chart.tsx';
import { ChartFigure, ChartSkeleton } from '../../components/chart-figure.tsx';
import { Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { formatTime, TIME_ZONE } from '../../components/when.tsx';
import type { CampaignRow } from './campaign-row.ts';
import { number } from './campaign-labels.ts';

const MINUTES = graphql(`
  query CampaignMinutes($id: ID!) {
    campaignMinutes(id: $id) {
      at
      minutes
      sent
      failed
      bounced
    }
  }
`);

/** How the campaign was sent, by minute; hidden until there is anything. */
export function Minutes({ campaign }: { campaign: CampaignRow }) {
  const query = useApiQuery(MINUTES, { id: campaign.id });
  const points = query.data?.campaignMinutes;
  const isEmpty = points === undefined ? campaign.engagement.sent === 0 : points.length === 0;
  if (isEmpty) return null;
  const minutes = points?.[0]?.minutes ?? 1;
  const period = minutes === 1 ? 'minute' : `${minutes} minutes`;
  return (
    <Section title="Sending pace" about={`Messages by ${period}. Time zone: ${TIME_ZONE}.`}>
      <QueryResult of={query} skeleton={<ChartSkeleton />}>
        {({ campaignMinutes }) => (
          <Card>
            <ChartFigure
              title={`Messages sent by ${period}`}
              about={`At most ${countOf(Math.max(...campaignMinutes.map(({ sent }) => sent)), 'message')} in ${minutes === 1 ? 'a minute' : period}.`}
              columns={['Time', 'Sent', 'Failed', 'Bounced']}
              rows={campaignMinutes.map(({ at, sent, failed, bounced }) => [
                formatTime(at),
                number(sent),
                number(failed),
                number(bounced),
              ])}
            >
              <Chart
                kind="bars"
                points={campaignMinutes.map((point) => ({ ...point, when: formatTime(point.at) }))}
                series={[
                  { name: 'sent', label: 'Sent', color: 'pine.6' },
                  { name: 'failed', label: 'Failed', color: 'red.6' },
                  // What bounces was sent.
                  { name: 'bounced', label: 'Bounced', color: 'orange.6', isPart: true },
                ]}
              />
            </ChartFigure>
          </Card>
        )}
      </QueryResult>
    </Section>
  );
}
