import '@mantine/charts/styles.css';
import { AreaChart } from '@mantine/charts';
import { number } from '../campaigns/campaign-labels.ts';

const date = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A chart of daily sizes. */
export default function SegmentSizeChart({ sizes }: { sizes: readonly { day: string; size: number }[] }) {
  return (
    <AreaChart
      h={160}
      data={sizes.map(({ day, size }) => ({ size, when: date.format(new Date(day)) }))}
      dataKey="when"
      curveType="linear"
      withDots={sizes.length < 10}
      fillOpacity={0.12}
      tickLine="none"
      gridAxis="x"
      valueFormatter={number}
      yAxisProps={{ width: 52, allowDecimals: false }}
      series={[{ name: 'size', label: 'Contacts', color: 'pine.6' }]}
    />
  );
}
