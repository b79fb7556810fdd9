import '@mantine/charts/styles.css';
import { AreaChart } from '@mantine/charts';
import { CHART_HEIGHT } from '../../components/chart-figure.tsx';
import type { StatisticsStep } from '../../generated/graphql.ts';
import { number } from '../campaigns/campaign-labels.ts';
import { formatTick } from './chart-format.ts';
import type { Point } from './statistics.ts';

/** A chart of messages sent, delivered, opened and clicked. */
export default function VolumeChart({ points, step }: { points: readonly Point[]; step: StatisticsStep }) {
  return (
    <AreaChart
      h={CHART_HEIGHT}
      data={points.map((point) => ({ ...point, when: formatTick(point.at, step) }))}
      dataKey="when"
      curveType="linear"
      withDots={false}
      fillOpacity={0.12}
      tickLine="none"
      gridAxis="x"
      withLegend
      valueFormatter={number}
      yAxisProps={{ width: 44, allowDecimals: false }}
      series={[
        { name: 'sent', label: 'Sent', color: 'gray.5' },
        { name: 'delivered', label: 'Delivered', color: 'pine.6' },
        { name: 'opened', label: 'Opened', color: 'blue.5' },
        { name: 'clicked', label: 'Clicked', color: 'grape.5' },
      ]}
    />
  );
}
