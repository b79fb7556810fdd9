import '@mantine/core/styles/ColorSwatch.css';
import '@mantine/charts/styles.css';
import { LineChart } from '@mantine/charts';
import { CHART_HEIGHT } from '../../components/chart-figure.tsx';
import { formatShare } from '../../components/numbers.ts';
import { BOUNCE_WARNING, COMPLAINTS_GMAIL, COMPLAINTS_LIMIT } from '../../components/thresholds.ts';
import type { StatisticsStep } from '../../generated/graphql.ts';
import { formatTick } from './chart-format.ts';
import type { RatePoint } from './statistics.ts';

const line = (share: number, words: string, color: string) => ({
  y: share * 100,
  label: `${formatShare(share, 1)}: ${words}`,
  color,
  labelPosition: 'insideBottomRight' as const,
});

/** Their labels are small text, so they are darker than the series (app.css). */
const LIMIT = 'var(--chart-limit)';
const WARNING = 'var(--chart-warning)';

const KINDS = {
  bounced: {
    label: 'Bounced',
    color: 'orange.6',
    lines: [line(BOUNCE_WARNING, 'rule of thumb', LIMIT)],
  },
  complained: {
    label: 'Complained',
    color: 'grape.5',
    lines: [
      line(COMPLAINTS_GMAIL, 'Gmail asks for less', WARNING),
      line(COMPLAINTS_LIMIT, 'Gmail’s and Yahoo’s limit', LIMIT),
    ],
  },
};

/** The next 1, 2, 3, 4, 6 or 8 of a power of ten, which divides into ticks well. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 3, 4, 6, 8].find((step) => step * power >= value) ?? 10);
}

/** A chart of a rate with the lines it should stay below. */
export default function RateChart({
  kind,
  rates,
  step,
}: {
  kind: keyof typeof KINDS;
  rates: readonly RatePoint[];
  step: StatisticsStep;
}) {
  const { label, color, lines } = KINDS[kind];
  const highest = Math.max(...lines.map(({ y }) => y));
  return (
    <LineChart
      h={CHART_HEIGHT}
      data={rates.map((point) => ({ ...point, when: formatTick(point.at, step) }))}
      dataKey="when"
      curveType="linear"
      // A single rate has no line.
      withDots={rates.filter((point) => point[kind] !== null).length < 2}
      connectNulls
      tickLine="none"
      gridAxis="x"
      valueFormatter={(share) => formatShare(share / 100, 2)}
      yAxisProps={{ width: 56, domain: [0, (most: number) => roundUp(Math.max(most, highest) * 1.1)] }}
      referenceLines={lines}
      series={[{ name: kind, label, color }]}
    />
  );
}
