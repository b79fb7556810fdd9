import './home.css';
import { Card, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useProject } from '../../app/session.tsx';
import { type Read, useRead } from '../../data/read.ts';
import type { StatisticsQuery } from '../../generated/graphql.ts';
import { Figure, Figures } from '../../components/figures.tsx';
import { Page, Section } from '../../components/page.tsx';
import { Answer, LinesSkeleton } from '../../components/states.tsx';
import { TIME_ZONE } from '../../components/when.tsx';
import { number, ofReached, percent, reachOf } from '../campaigns/campaign-labels.ts';
import { Attention } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { OVERVIEW, type Overview } from './overview.ts';
import { PERIODS, type Period, sinceOf } from './period.ts';
import { RecentCampaigns } from './recent-campaigns.tsx';
import { RunningCampaigns } from './running-campaigns.tsx';
import { type Point, STATISTICS, total } from './statistics.ts';

const Chart = lazy(() => import('./chart.tsx'));

/** What has to be known in the morning: what needs attention, what is going on, and how it went. */
export function Home() {
  const { name } = useProject();
  const { period = '30d' } = useSearch({ from: '/gate/p/$projectId/' });
  const overview = useRead(OVERVIEW, {});
  const statistics = useRead(STATISTICS, {
    since: sinceOf(period, Date.now()),
    step: PERIODS[period].step,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
  return (
    <Page title="Home" about={`Overview of ${name}.`}>
      <Answer of={overview} skeleton={<LinesSkeleton lines={3} />}>
        {(known) => <Now overview={known} points={statistics.data?.statistics ?? []} period={period} />}
      </Answer>
      <OverTime period={period} statistics={statistics} />
      {overview.data !== undefined && <RecentCampaigns campaigns={overview.data.recent.nodes} />}
    </Page>
  );
}

function Now({ overview, points, period }: { overview: Overview; points: readonly Point[]; period: Period }) {
  return (
    <>
      <Checklist overview={overview} />
      <Attention overview={overview} points={points} words={PERIODS[period].words} />
      <RunningCampaigns campaigns={overview.sending.nodes} />
    </>
  );
}

function OverTime({ period, statistics }: { period: Period; statistics: Read<StatisticsQuery> }) {
  const navigate = useNavigate();
  return (
    <Section
      title="Over time"
      about={`In the time zone ${TIME_ZONE}.`}
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Period"
          value={period}
          data={Object.entries(PERIODS).map(([value, { label }]) => ({ value, label }))}
          onChange={(next) => void navigate({ to: '.', search: { period: next } as never, replace: true })}
        />
      }
    >
      <Answer of={statistics} skeleton={<Skeleton h={380} />}>
        {({ statistics: points }) => (
          <Stack>
            <Totals points={points} words={PERIODS[period].words} />
            <Card>
              <Suspense fallback={<Skeleton h={260} />}>
                <Chart points={points} step={PERIODS[period].step} />
              </Suspense>
            </Card>
          </Stack>
        )}
      </Answer>
    </Section>
  );
}

function Totals({ points, words }: { points: readonly Point[]; words: string }) {
  const [sent, delivered] = [total(points, 'sent'), total(points, 'delivered')];
  const [bounced, complained] = [total(points, 'bounced'), total(points, 'complained')];
  const reach = reachOf({ sent, delivered });
  return (
    <Figures label={`In ${words}`}>
      <Figure label="Sent" value={sent} detail={`${number(total(points, 'failed'))} failed`} />
      {reach.word === 'accepted' ? (
        <Figure label="Accepted" value={sent} detail="delivery not reported" />
      ) : (
        <Figure label="Delivered" value={delivered} detail={`${percent(delivered, sent)} of sent`} />
      )}
      <Figure
        label="Opened"
        value={total(points, 'opened')}
        detail={ofReached(total(points, 'opened'), reach, total(points, 'openedByMachines'))}
      />
      <Figure
        label="Clicked"
        value={total(points, 'clicked')}
        detail={ofReached(total(points, 'clicked'), reach, total(points, 'clickedByMachines'))}
      />
      <Figure
        label="Bounced"
        value={bounced}
        detail={`${percent(bounced, sent)} of sent`}
        tone={sent > 0 && bounced / sent >= 0.02 ? 'bad' : undefined}
      />
      <Figure
        label="Complained"
        value={complained}
        detail={ofReached(complained, reach)}
        tone={reach.count > 0 && complained / reach.count >= 0.001 ? 'bad' : undefined}
      />
      <Figure
        label="Unsubscribed"
        value={total(points, 'unsubscribed')}
        detail={`${number(total(points, 'added'))} contacts added`}
      />
    </Figures>
  );
}
