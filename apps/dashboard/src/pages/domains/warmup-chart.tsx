import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { Stack, Text } from '@mantine/core';

interface WarmupChartProps {
  /** Messages allowed on each day with mail. */
  steps: readonly number[];
  /** Today's step, from 1; undefined if the plan does not run. */
  step?: number | undefined;
  /** Messages sent today. */
  sent?: number;
}

const count = (value: number) => value.toLocaleString();

/** A warm-up plan: the limit of each day, what was sent today, and the days that are done. */
export default function WarmupChart({ steps, step, sent = 0 }: WarmupChartProps) {
  const data = steps.map((limit, index) => {
    const day = index + 1;
    const isToday = day === step;
    const used = isToday ? Math.min(sent, limit) : 0;
    return {
      day: isToday ? 'Today' : `Day ${day}`,
      done: step !== undefined && day < step ? limit : undefined,
      used: isToday ? used : undefined,
      ahead: step === undefined || day >= step ? limit - used : undefined,
    };
  });
  const [first = 0, last = 0] = [steps[0], steps.at(-1)];
  const label = `${steps.length} steps, from ${count(first)} to ${count(last)} messages per day${step === undefined ? '' : `; today is step ${step}, with ${count(steps[step - 1] ?? 0)}`}`;
  return (
    <Stack gap="xs" component="figure" m={0} role="img" aria-label={label}>
      <Text size="sm" fw={550} component="figcaption">
        Messages per day
      </Text>
      <BarChart
        h={200}
        data={data}
        dataKey="day"
        type="stacked"
        maxBarWidth={28}
        tickLine="none"
        gridAxis="x"
        withLegend={step !== undefined}
        valueFormatter={count}
        yAxisProps={{ width: 56, allowDecimals: false }}
        xAxisProps={{ interval: 'preserveStartEnd', minTickGap: 12 }}
        series={[
          { name: 'done', label: 'Days done', color: 'gray.5' },
          { name: 'used', label: 'Sent today', color: 'pine.6' },
          { name: 'ahead', label: 'Limit', color: 'pine.3' },
        ]}
      />
    </Stack>
  );
}
