import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { TIME_BARS } from '../../components/time-chart.ts';

/** A chart of daily counts; `when` is the day as text. */
export default function EventDaysChart({ days }: { days: readonly { when: string; eventCount: number }[] }) {
  return (
    <BarChart
      {...TIME_BARS}
      withLegend={false}
      data={[...days]}
      series={[{ name: 'eventCount', label: 'Events', color: 'pine.6' }]}
    />
  );
}
