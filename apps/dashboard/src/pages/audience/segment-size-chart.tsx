import '@mantine/charts/styles.css';
import { AreaChart } from '@mantine/charts';
import { TIME_AREAS } from '../../components/time-chart.ts';

const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A chart of daily sizes. */
export default function SegmentSizeChart({ sizes }: { sizes: readonly { day: string; size: number }[] }) {
  return (
    <AreaChart
      {...TIME_AREAS}
      h={160}
      withLegend={false}
      data={sizes.map(({ day, size }) => ({ size, when: date.format(new Date(day)) }))}
      withDots={sizes.length < 10}
      yAxisProps={{ width: 52, allowDecimals: false }}
      series={[{ name: 'size', label: 'Contacts', color: 'pine.6' }]}
    />
  );
}
