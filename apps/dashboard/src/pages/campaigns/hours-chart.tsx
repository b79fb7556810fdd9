import '@mantine/charts/styles.css';
import { AreaChart } from '@mantine/charts';
import type { CampaignHoursQuery } from '../../generated/graphql.ts';
import { TIME_AREAS } from '../../components/time-chart.ts';
import { formatDayAndTime } from '../../components/when.tsx';

/** A chart of opens and clicks over time. */
export default function HoursChart({ hours }: { hours: CampaignHoursQuery['campaignHours'] }) {
  return (
    <AreaChart
      {...TIME_AREAS}
      data={hours.map((point) => ({ ...point, when: formatDayAndTime(point.at) }))}
      withDots={hours.length < 3}
      series={[
        { name: 'opened', label: 'Opened', color: 'blue.5' },
        { name: 'clicked', label: 'Clicked', color: 'grape.5' },
        { name: 'unsubscribed', label: 'Unsubscribed', color: 'yellow.5' },
      ]}
    />
  );
}
