import '@mantine/core/styles/ColorSwatch.css';
import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { TIME_BARS } from '../../components/time-chart.ts';
import type { StatisticsStep } from '../../generated/graphql.ts';
import { formatTick } from './chart-format.ts';
import type { Point } from './statistics.ts';

/** A chart of bounces, complaints, failures and unsubscribes. */
export default function ProblemsChart({ points, step }: { points: readonly Point[]; step: StatisticsStep }) {
  return (
    <BarChart
      {...TIME_BARS}
      data={points.map((point) => ({ ...point, when: formatTick(point.at, step) }))}
      series={[
        { name: 'bounced', label: 'Bounced', color: 'orange.6' },
        { name: 'complained', label: 'Complained', color: 'red.6' },
        { name: 'failed', label: 'Failed', color: 'gray.5' },
        { name: 'unsubscribed', label: 'Unsubscribed', color: 'yellow.5' },
      ]}
    />
  );
}
