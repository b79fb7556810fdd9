import { Stack, Text } from '@mantine/core';
import { countOf } from '../../components/numbers.ts';
import { Chart } from '../../components/chart.tsx';
import { number } from '../campaigns/campaign-labels.ts';

interface WarmupChartProps {
  /** Messages allowed on each day with mail. */
  steps: readonly number[];
  /** Today's step, from 1; undefined if the plan does not run. */
  step?: number | undefined;
  /** Messages sent today. */
  sent?: number;
}

const LIMIT = { name: 'ahead', label: 'Limit', color: 'pine.3' } as const;

/** A warm-up plan: the limit of each day, what was sent today, and the days that are done. */
export function WarmupChart({ steps, step, sent = 0 }: WarmupChartProps) {
  const points = steps.map((limit, index) => {
    const day = index + 1;
    const isToday = day === step;
    const used = isToday ? Math.min(sent, limit) : 0;
    return {
      when: isToday ? 'Today' : `Day ${day}`,
      done: step !== undefined && day < step ? limit : undefined,
      used: isToday ? used : undefined,
      ahead: step === undefined || day >= step ? limit - used : undefined,
    };
  });
  const [first = 0, last = 0] = [steps[0], steps.at(-1)];
  const label = `${countOf(steps.length, 'step')}, from ${number(first)} to ${number(last)} messages per day${step === undefined ? '' : `; today is step ${step}, with ${number(steps[step - 1] ?? 0)}`}`;
  return (
    <Stack gap="xs" component="figure" m={0} aria-label={label}>
      <Text size="sm" fw={550} component="figcaption">
        Messages per day
      </Text>
      <Chart
        kind="bars"
        height={200}
        points={points}
        series={
          step === undefined
            ? [LIMIT]
            : [
                { name: 'done', label: 'Days done', color: 'gray.5' },
                { name: 'used', label: 'Sent today', color: 'pine.6' },
                LIMIT,
              ]
        }
      />
    </Stack>
  );
}
