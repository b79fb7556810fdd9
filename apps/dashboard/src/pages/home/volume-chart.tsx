import '@mantine/core/styles/ColorSwatch.css';
import '@mantine/charts/styles.css';
import { AreaChart } from '@mantine/charts';
import { TIME_AREAS } from '../../components/time-chart.ts';
import type { StatisticsStep } from '../../generated/graphql.ts';
import { formatTick } from './chart-format.ts';
import type { Point } from './statistics.ts';

/** A chart of messages sent, delivered, opened and clicked. */
export default function VolumeChart({ points, step }: { points: readonly Point[]; step: StatisticsStep }) {
  return (
    <AreaChart
      {...TIME_AREAS}
      data={points.map((point) => ({ ...point, when: formatTick(point.at, step) }))}
      withDots={false}
      series={[
        { name: 'sent', label: 'Sent', color: 'gray.5' },
        { name: 'delivered', label: 'Delivered', color: 'pine.6' },
        { name: 'opened', label: 'Opened', color: 'blue.5' },
        { name: 'clicked', label: 'Clicked', color: 'grape.5' },
      ]}
    />
  );
}
