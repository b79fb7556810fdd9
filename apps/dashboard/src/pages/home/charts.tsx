import { Card, SimpleGrid } from '@mantine/core';
import { lazy } from 'react';
import type { StatisticsStep } from '../../generated/graphql.ts';
import { ChartFigure } from '../../components/chart-figure.tsx';
import { formatShare } from '../../components/numbers.ts';
import { BOUNCE_WARNING, COMPLAINTS_GMAIL, COMPLAINTS_LIMIT } from '../../components/thresholds.ts';
import { number } from '../campaigns/campaign-labels.ts';
import { formatPoint } from './chart-format.ts';
import { AVERAGED, type Point, ratesOf } from './statistics.ts';

const VolumeChart = lazy(() => import('./volume-chart.tsx'));
const ProblemsChart = lazy(() => import('./problems-chart.tsx'));
const RateChart = lazy(() => import('./rate-chart.tsx'));

const rate = (share: number | null) => (share === null ? '–' : formatShare(share / 100, 2, 2));

/** Charts of email volume, delivery problems, and bounce and complaint rates with their limits. */
export function Charts({ points, step }: { points: readonly Point[]; step: StatisticsStep }) {
  const rates = ratesOf(points, step);
  const when = step === 'hour' ? 'Hour' : 'Day';
  const average = `Average of ${AVERAGED[step]} ${step}s.`;
  return (
    <Card>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="xl">
        <ChartFigure
          title="Email over time"
          columns={[when, 'Sent', 'Delivered', 'Opened', 'Clicked']}
          rows={points.map(({ at, sent, delivered, opened, clicked }) => [
            formatPoint(at, step),
            ...[sent, delivered, opened, clicked].map(number),
          ])}
        >
          <VolumeChart points={points} step={step} />
        </ChartFigure>
        <ChartFigure
          title="Delivery problems"
          columns={[when, 'Bounced', 'Complained', 'Failed', 'Unsubscribed']}
          rows={points.map(({ at, bounced, complained, failed, unsubscribed }) => [
            formatPoint(at, step),
            ...[bounced, complained, failed, unsubscribed].map(number),
          ])}
        >
          <ProblemsChart points={points} step={step} />
        </ChartFigure>
        <ChartFigure
          title="Bounce rate"
          about={`${average} The line at ${formatShare(BOUNCE_WARNING)} is a rule of thumb: Gmail and Yahoo publish no limit for bounces.`}
          columns={[when, 'Bounced']}
          rows={rates.map(({ at, bounced }) => [formatPoint(at, step), rate(bounced)])}
        >
          <RateChart kind="bounced" rates={rates} step={step} />
        </ChartFigure>
        <ChartFigure
          title="Complaint rate"
          about={`${average} Gmail asks for less than ${formatShare(COMPLAINTS_GMAIL, 1)}, and never ${formatShare(COMPLAINTS_LIMIT, 1)} or more. Yahoo asks for less than ${formatShare(COMPLAINTS_LIMIT, 1)}.`}
          columns={[when, 'Complained']}
          rows={rates.map(({ at, complained }) => [formatPoint(at, step), rate(complained)])}
        >
          <RateChart kind="complained" rates={rates} step={step} />
        </ChartFigure>
      </SimpleGrid>
    </Card>
  );
}
