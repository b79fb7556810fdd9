import { Card } from '@mantine/core';
import { lazy } from 'react';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { ChartFigure } from '../../components/chart-figure.tsx';
import { Section } from '../../components/page.tsx';
import { formatTime, TIME_ZONE } from '../../components/when.tsx';
import type { CampaignRow } from './campaign.tsx';
import { countOf, number } from './campaign-labels.ts';

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

const MinutesChart = lazy(() => import('./minutes-chart.tsx'));

/** How the campaign was sent, by minute; hidden until there is anything. */
export function Minutes({ campaign }: { campaign: CampaignRow }) {
  const points = useApiQuery(MINUTES, { id: campaign.id }).data?.campaignMinutes ?? [];
  const [first] = points;
  if (first === undefined) return null;
  const period = first.minutes === 1 ? 'minute' : `${first.minutes} minutes`;
  const most = Math.max(...points.map(({ sent }) => sent));
  return (
    <Section title="Sending pace" about={`Messages by ${period}. Time zone: ${TIME_ZONE}.`}>
      <Card>
        <ChartFigure
          title={`Messages sent by ${period}`}
          about={`At most ${countOf(most, 'message')} in ${first.minutes === 1 ? 'a minute' : period}.`}
          columns={['Time', 'Sent', 'Failed', 'Bounced']}
          rows={points.map(({ at, sent, failed, bounced }) => [
            formatTime(at),
            number(sent),
            number(failed),
            number(bounced),
          ])}
        >
          <MinutesChart points={points} />
        </ChartFigure>
      </Card>
    </Section>
  );
}
