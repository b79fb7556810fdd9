import { Skeleton, Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import { lazyPage } from '../../app/lazy-page.ts';
import { useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { Page, Section } from '../../components/page.tsx';
import { QueryResult, LinesSkeleton } from '../../components/states.tsx';
import { TIME_ZONE } from '../../components/when.tsx';
import { countOf } from '../../components/numbers.ts';
import { Attention } from './attention.tsx';
import { Charts } from './charts.tsx';
import { OVERVIEW, type Overview } from './overview.ts';
import { type Span, spanOf } from './period.ts';
import { PeriodChoice } from './period-choice.tsx';
import { RecentCampaigns } from './recent-campaigns.tsx';
import { RunningCampaigns } from './running-campaigns.tsx';
import { type Point, STATISTICS } from './statistics.ts';
import { Totals } from './totals.tsx';

const Checklist = lazyPage(() => import('./checklist.tsx'), 'Checklist', { forms: false });

/** The home page: attention items, running campaigns and statistics. */
export function Home() {
  const { id, name } = useProject();
  const search = useSearch({ from: '/auth/p/$projectId/' });
  const overview = useApiQuery(OVERVIEW, {});
  const span = spanOf(search, Date.now());
  const days = overview.data?.projects.find((project) => project.id === id)?.statisticsDays;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const statistics = useApiQuery(STATISTICS, { ...argumentsOf(span), timeZone });
  return (
    <Page title="Home" about={`Overview of ${name}.`}>
      <QueryResult of={overview} skeleton={<LinesSkeleton lines={3} />}>
        {(known) => <Now overview={known} points={statistics.data?.statistics ?? []} words={span.words} />}
      </QueryResult>
      <Section title="Over time" about={aboutSpan(span, days)} actions={<PeriodChoice search={search} />}>
        <QueryResult of={statistics} skeleton={<Skeleton h={380} />}>
          {({ statistics: points }) => <OverTime points={points} span={span} days={days} />}
        </QueryResult>
      </Section>
      {overview.data !== undefined && <RecentCampaigns campaigns={overview.data.recent.nodes} />}
    </Page>
  );
}

const DAY_MS = 86_400_000;

const argumentsOf = ({ since, until, step }: Pick<Span, 'since' | 'until' | 'step'>) => ({
  since,
  until: until ?? null,
  step,
});

function Now({ overview, points, words }: { overview: Overview; points: readonly Point[]; words: string }) {
  return (
    <>
      {overview.recent.nodes.every(({ startedAt }) => startedAt === null) && (
        <Suspense>
          <Checklist overview={overview} />
        </Suspense>
      )}
      <Attention overview={overview} points={points} words={words} />
      <RunningCampaigns campaigns={overview.sending.nodes} />
    </>
  );
}

/** Says so if part of the period is no longer stored. */
const aboutSpan = ({ since }: Span, days: number | undefined) =>
  `In the time zone ${TIME_ZONE}.${days === undefined || isStored(since, days) ? '' : ` Statistics reach back ${countOf(days, 'day')}, so earlier figures are missing.`}`;

const isStored = (since: string, days: number) => Date.now() - Date.parse(since) <= days * DAY_MS;

/** Compares with the period before only if all of it is stored. */
function OverTime({ points, span, days }: { points: readonly Point[]; span: Span; days: number | undefined }) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const before = useApiQuery(
    STATISTICS,
    { ...argumentsOf({ ...span.before, step: span.step }), timeZone },
    { pause: days === undefined || !isStored(span.before.since, days) },
  );
  return (
    <Stack>
      <Totals points={points} before={before.data?.statistics ?? []} span={span} />
      <Charts points={points} step={span.step} />
    </Stack>
  );
}
