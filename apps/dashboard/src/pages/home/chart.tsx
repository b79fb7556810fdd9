import '@mantine/charts/styles.css';
import { AreaChart, BarChart } from '@mantine/charts';
import { SimpleGrid, Stack, Text } from '@mantine/core';
import type { StatisticsStep } from '../../generated/graphql.ts';
import type { Point } from './statistics.ts';

const FORMATS: Record<StatisticsStep, Intl.DateTimeFormat> = {
  hour: new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  day: new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' }),
};

const count = (value: number) => value.toLocaleString('en');
const AXES = { tickLine: 'none', gridAxis: 'x', valueFormatter: count, withLegend: true } as const;

/** Charts of email volume and delivery problems. */
export default function Chart({ points, step }: { points: readonly Point[]; step: StatisticsStep }) {
  const data = points.map((point) => ({ ...point, when: FORMATS[step].format(new Date(point.at)) }));
  const yAxisProps = { width: 44, allowDecimals: false } as const;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
      <Stack gap="xs" component="figure" m={0} aria-label="Email over time">
        <Text size="sm" fw={550} component="figcaption">
          Mail
        </Text>
        <AreaChart
          h={260}
          data={data}
          dataKey="when"
          curveType="linear"
          withDots={false}
          fillOpacity={0.12}
          yAxisProps={yAxisProps}
          {...AXES}
          series={[
            { name: 'sent', label: 'Sent', color: 'gray.5' },
            { name: 'delivered', label: 'Delivered', color: 'pine.6' },
            { name: 'opened', label: 'Opened', color: 'blue.5' },
            { name: 'clicked', label: 'Clicked', color: 'grape.5' },
          ]}
        />
      </Stack>
      <Stack gap="xs" component="figure" m={0} aria-label="Bounces, complaints and unsubscribes over time">
        <Text size="sm" fw={550} component="figcaption">
          Delivery problems
        </Text>
        <BarChart
          h={260}
          data={data}
          dataKey="when"
          type="stacked"
          maxBarWidth={28}
          yAxisProps={yAxisProps}
          {...AXES}
          series={[
            { name: 'bounced', label: 'Bounced', color: 'orange.6' },
            { name: 'complained', label: 'Complained', color: 'red.6' },
            { name: 'failed', label: 'Failed', color: 'gray.5' },
            { name: 'unsubscribed', label: 'Unsubscribed', color: 'yellow.5' },
          ]}
        />
      </Stack>
    </SimpleGrid>
  );
}
