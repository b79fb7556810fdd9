import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { CHART_HEIGHT } from '../../components/chart-figure.tsx';
import type { StatisticsStep } from '../../generated/graphql.ts';
import { number } from '../campaigns/campaign-labels.ts';
import { formatTick } from './chart-format.ts';
import type { Point } from './statistics.ts';

/** A chart of bounces, complaints, failures and unsubscribes. */
export default function ProblemsChart({ points, step }: { points: readonly Point[]; step: StatisticsStep }) {
  return (
    <BarChart
      h={CHART_HEIGHT}
      data={points.map((point) => ({ ...point, when: formatTick(point.at, step) }))}
      dataKey="when"
      type="stacked"
      maxBarWidth={28}
      tickLine="none"
      gridAxis="x"
      withLegend
      valueFormatter={number}
      yAxisProps={{ width: 44, allowDecimals: false }}
      series={[
        { name: 'bounced', label: 'Bounced', color: 'orange.6' },
        { name: 'complained', label: 'Complained', color: 'red.6' },
        { name: 'failed', label: 'Failed', color: 'gray.5' },
        { name: 'unsubscribed', label: 'Unsubscribed', color: 'yellow.5' },
      ]}
    />
  );
}
