import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import type { CampaignMinutesQuery } from '../../generated/graphql.ts';
import { CHART_HEIGHT } from '../../components/chart-figure.tsx';
import { formatTime } from '../../components/when.tsx';
import { number } from './campaign-labels.ts';

/** A chart of messages sent over time. */
export default function MinutesChart({ points }: { points: CampaignMinutesQuery['campaignMinutes'] }) {
  return (
    <BarChart
      h={CHART_HEIGHT}
      data={points.map((point) => ({ ...point, when: formatTime(point.at) }))}
      dataKey="when"
      type="stacked"
      maxBarWidth={28}
      tickLine="none"
      gridAxis="x"
      withLegend
      valueFormatter={number}
      yAxisProps={{ width: 44, allowDecimals: false }}
      series={[
        { name: 'sent', label: 'Sent', color: 'pine.6' },
        { name: 'failed', label: 'Failed', color: 'red.6' },
        { name: 'bounced', label: 'Bounced', color: 'orange.6' },
      ]}
    />
  );
}
