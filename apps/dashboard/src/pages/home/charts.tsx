import { Card, SimpleGrid } from '@mantine/core';
import type { StatisticsStep } from '../../generated/graphql.ts';
import { Chart, type Limit } from '../../components/chart.tsx';
import { ChartFigure } from '../../components/chart-figure.tsx';
import { formatShare } from '../../components/numbers.ts';
import { BOUNCE_WARNING, COMPLAINTS_GMAIL, COMPLAINTS_LIMIT } from '../../components/thresholds.ts';
import { number } from '../campaigns/campaign-labels.ts';
import { formatPoint, formatTick } from './chart-format.ts';
import { AVERAGING_POINTS, type Point, ratesOf } from './statistics.ts';

const rate = (share: number | null) => (share === null ? '–' : formatShare(share, 2, 2));

const limit = (value: number, words: string, color: string): Limit => ({
  value,
  label: `${formatShare(value, 1)}: ${words}`,
  color,
});

/** Their labels are small text, so they are darker than the series (app.css). */
const LIMIT = 'var(--mantine-color-error)';
const WARNING = 'var(--chart-warning)';

const VOLUME = [
  { name: 'sent', label: 'Sent', color: 'gray.5' },
  { name: 'delivered', label: 'Delivered', color: 'pine.6' },
  { name: 'opened', label: 'Opened', color: 'blue.5' },
  { name: 'clicked', label: 'Clicked', color: 'grape.5' },
] as const;

const PROBLEMS = [
  { name: 'bounced', label: 'Bounced', color: 'orange.6' },
  { name: 'complained', label: 'Complained', color: 'red.6' },
  { name: 'rejected', label: 'Rejected', color: 'grape.5' },
  { name: 'failed', label: 'Failed', color: 'gray.5' },
  { name: 'unsubscribed', label: 'Unsubscribed', color: 'yellow.5' },
] as const;

const RATES = {
  bounced: {
    series: [{ name: 'bounced', label: 'Bounced', color: 'orange.6' }],
    limits: [limit(BOUNCE_WARNING, 'rule of thumb', LIMIT)],
  },
  complained: {
    series: [{ name: 'complained', label: 'Complained', color: 'grape.5' }],
    limits: [
      limit(COMPLAINTS_GMAIL, 'Gmail asks for less', WARNING),
      limit(COMPLAINTS_LIMIT, 'Gmail’s and Yahoo’s limit', LIMIT),
    ],
  },
} as const;

/** Charts of email volume, delivery problems, and bounce and complaint rates with their limits. */
export function Charts({ points, step }: { points: readonly Point[]; step: StatisticsStep }) {
  const timed = points.map((point) => ({ ...point, when: formatTick(point.at, step) }));
  const rates = ratesOf(points, step).map((point) => ({ ...point, when: formatTick(point.at, step) }));
  const average = `Average of ${AVERAGING_POINTS[step]} ${step}s.`;
  const figure = (series: typeof VOLUME | typeof PROBLEMS) => ({
    columns: [step === 'hour' ? 'Hour' : 'Day', ...series.map(({ label }) => label)],
    rows: points.map((point) => [formatPoint(point.at, step), ...series.map(({ name }) => number(point[name]))]),
  });
  const rateFigure = (kind: keyof typeof RATES) => ({
    columns: [step === 'hour' ? 'Hour' : 'Day', RATES[kind].series[0].label],
    rows: rates.map((point) => [formatPoint(point.at, step), rate(point[kind])]),
  });
  const rateChart = {
    kind: 'lines',
    points: rates,
    format: (share: number) => formatShare(share, 2),
    fractions: true,
  } as const;
  return (
    <Card>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="xl">
        <ChartFigure title="Email over time" {...figure(VOLUME)}>
          <Chart kind="areas" points={timed} series={VOLUME} />
        </ChartFigure>
        <ChartFigure title="Delivery problems" {...figure(PROBLEMS)}>
          <Chart kind="bars" points={timed} series={PROBLEMS} />
        </ChartFigure>
        <ChartFigure
          title="Bounce rate"
          about={`${average} The line at ${formatShare(BOUNCE_WARNING)} is a rule of thumb: Gmail and Yahoo publish no limit for bounces.`}
          {...rateFigure('bounced')}
        >
          <Chart {...rateChart} {...RATES.bounced} />
        </ChartFigure>
        <ChartFigure
          title="Complaint rate"
          about={`${average} Gmail asks for less than ${formatShare(COMPLAINTS_GMAIL, 1)}, and never ${formatShare(COMPLAINTS_LIMIT, 1)} or more. Yahoo asks for less than ${formatShare(COMPLAINTS_LIMIT, 1)}.`}
          {...rateFigure('complained')}
        >
          <Chart {...rateChart} {...RATES.complained} />
        </ChartFigure>
      </SimpleGrid>
    </Card>
  );
}
