import './home.css';
import { Card, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useProject } from '../../app/session.tsx';
import { type ApiQuery, useApiQuery } from '../../data/api-query.ts';
import type { StatisticsQuery } from '../../generated/graphql.ts';
import { Stat, Stats } from '../../components/stats.tsx';
import { Page, Section } from '../../components/page.tsx';
import { QueryResult, LinesSkeleton } from '../../components/states.tsx';
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

/** The home page: attention items, running campaigns and statistics. */
export function Home() {
  const { name } = useProject();
  const { period = '30d' } = useSearch({ from: '/auth/p/$projectId/' });
  const overview = useApiQuery(OVERVIEW, {});
  const statistics = useApiQuery(STATISTICS, {
    since: sinceOf(period, Date.now()),
    step: PERIODS[period].step,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
  return (
    <Page title="Home" about={`Overview of ${name}.`}>
      <QueryResult of={overview} skeleton={<LinesSkeleton lines={3} />}>
        {(known) => <Now overview={known} points={statistics.data?.statistics ?? []} period={period} />}
      </QueryResult>
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

function OverTime({ period, statistics }: { period: Period; statistics: ApiQuery<StatisticsQuery> }) {
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
      <QueryResult of={statistics} skeleton={<Skeleton h={380} />}>
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
      </QueryResult>
    </Section>
  );
}

function Totals({ points, words }: { points: readonly Point[]; words: string }) {
  const [sent, delivered] = [total(points, 'sent'), total(points, 'delivered')];
  const [bounced, complained] = [total(points, 'bounced'), total(points, 'complained')];
  const reach = reachOf({ sent, delivered });
  return (
    <Stats label={`In ${words}`}>
      <Stat label="Sent" value={sent} detail={`${number(total(points, 'failed'))} failed`} />
      {reach.word === 'accepted' ? (
        <Stat label="Accepted" value={sent} detail="delivery not reported" />
      ) : (
        <Stat label="Delivered" value={delivered} detail={`${percent(delivered, sent)} of sent`} />
      )}
      <Stat
        label="Opened"
        value={total(points, 'opened')}
        detail={ofReached(total(points, 'opened'), reach, total(points, 'openedByMachines'))}
      />
      <Stat
        label="Clicked"
        value={total(points, 'clicked')}
        detail={ofReached(total(points, 'clicked'), reach, total(points, 'clickedByMachines'))}
      />
      <Stat
        label="Bounced"
        value={bounced}
        detail={`${percent(bounced, sent)} of sent`}
        tone={sent > 0 && bounced / sent >= 0.02 ? 'bad' : undefined}
      />
      <Stat
        label="Complained"
        value={complained}
        detail={ofReached(complained, reach)}
        tone={reach.count > 0 && complained / reach.count >= 0.001 ? 'bad' : undefined}
      />
      <Stat
        label="Unsubscribed"
        value={total(points, 'unsubscribed')}
        detail={`${number(total(points, 'added'))} contacts added`}
      />
    </Stats>
  );
}
