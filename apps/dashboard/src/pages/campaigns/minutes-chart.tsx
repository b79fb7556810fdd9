import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import type { CampaignMinutesQuery } from '../../generated/graphql.ts';
import { TIME_BARS } from '../../components/time-chart.ts';
import { formatTime } from '../../components/when.tsx';

/** A chart of messages sent over time. */
export default function MinutesChart({ points }: { points: CampaignMinutesQuery['campaignMinutes'] }) {
  return (
    <BarChart
      {...TIME_BARS}
      data={points.map((point) => ({ ...point, when: formatTime(point.at) }))}
      series={[
        { name: 'sent', label: 'Sent', color: 'pine.6' },
        { name: 'failed', label: 'Failed', color: 'red.6' },
        { name: 'bounced', label: 'Bounced', color: 'orange.6' },
      ]}
    />
  );
}
