import '@mantine/charts/styles.css';
import { AreaChart } from '@mantine/charts';
import type { CampaignHoursQuery } from '../../generated/graphql.ts';
import { CHART_HEIGHT } from '../../components/chart-figure.tsx';
import { formatDayAndTime } from '../../components/when.tsx';
import { number } from './campaign-labels.ts';

/** A chart of opens and clicks over time. */
export default function HoursChart({ hours }: { hours: CampaignHoursQuery['campaignHours'] }) {
  return (
    <AreaChart
      h={CHART_HEIGHT}
      data={hours.map((point) => ({ ...point, when: formatDayAndTime(point.at) }))}
      dataKey="when"
      curveType="linear"
      withDots={hours.length < 3}
      fillOpacity={0.12}
      tickLine="none"
      gridAxis="x"
      withLegend
      valueFormatter={number}
      yAxisProps={{ width: 44, allowDecimals: false }}
      series={[
        { name: 'opened', label: 'Opened', color: 'blue.5' },
        { name: 'clicked', label: 'Clicked', color: 'grape.5' },
        { name: 'unsubscribed', label: 'Unsubscribed', color: 'yellow.5' },
      ]}
    />
  );
}
