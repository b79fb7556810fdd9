import { Text } from '@mantine/core';
import { type Better, CountChange, RateChange, rateOf } from '../../components/change.tsx';
import { Stat, Stats } from '../../components/stats.tsx';
import { BOUNCE_WARNING, COMPLAINTS_GMAIL } from '../../components/thresholds.ts';
import { number, ofReached, percent, reachOf } from '../campaigns/campaign-labels.ts';
import type { Span } from './period.ts';
import { type Point, total } from './statistics.ts';

const isAbove = (part: number, whole: number, limit: number) =>
  whole > 0 && part / whole >= limit ? ('bad' as const) : undefined;

interface Sums {
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
}

const sumsOf = (points: readonly Point[]): Sums => ({
  sent: total(points, 'sent'),
  delivered: total(points, 'delivered'),
  opened: total(points, 'opened'),
  clicked: total(points, 'clicked'),
  bounced: total(points, 'bounced'),
  complained: total(points, 'complained'),
  unsubscribed: total(points, 'unsubscribed'),
});

/** Figures of the period, with the change from the one before. */
export function Totals({ points, before, span }: { points: readonly Point[]; before: readonly Point[]; span: Span }) {
  const now = sumsOf(points);
  const then = sumsOf(before);
  const [reach, reachThen] = [reachOf(now), reachOf(then)];
  const { sent, delivered, opened, clicked, bounced, complained, unsubscribed } = now;
  const count = (name: keyof Sums, better: Better) => (
    <CountChange now={now[name]} before={then[name]} than={span.beforeWords} better={better} />
  );
  const ofSent = (name: keyof Sums, better: Better) => (
    <RateChange
      now={rateOf(now[name], sent)}
      before={rateOf(then[name], then.sent)}
      than={span.beforeWords}
      better={better}
    />
  );
  /** Rates of delivered and of accepted messages do not compare. */
  const ofReach = (name: keyof Sums, better: Better) =>
    reach.word === reachThen.word && (
      <RateChange
        now={rateOf(now[name], reach.count)}
        before={rateOf(then[name], reachThen.count)}
        than={span.beforeWords}
        better={better}
      />
    );
  return (
    <Stats
      label={span.title}
      about={
        then.sent > 0 && (
          <Text size="sm" c="dimmed">
            Changes are from {span.beforeWords}.
          </Text>
        )
      }
    >
      <Stat
        label="Sent"
        value={number(sent)}
        detail={`${number(total(points, 'failed'))} failed`}
        change={count('sent', 'more')}
      />
      {reach.word === 'accepted' ? (
        <Stat label="Accepted" value={number(sent)} detail="delivery not reported" />
      ) : (
        <Stat
          label="Delivered"
          value={number(delivered)}
          detail={`${percent(delivered, sent)} of sent`}
          change={ofSent('delivered', 'more')}
        />
      )}
      <Stat
        label="Opened"
        value={number(opened)}
        detail={ofReached(opened, reach, total(points, 'openedByMachines'))}
        change={ofReach('opened', 'more')}
      />
      <Stat
        label="Clicked"
        value={number(clicked)}
        detail={ofReached(clicked, reach, total(points, 'clickedByMachines'))}
        change={ofReach('clicked', 'more')}
      />
      <Stat
        label="Bounced"
        value={number(bounced)}
        detail={`${percent(bounced, sent)} of sent`}
        tone={isAbove(bounced, sent, BOUNCE_WARNING)}
        change={ofSent('bounced', 'less')}
      />
      <Stat
        label="Complained"
        value={number(complained)}
        detail={ofReached(complained, reach)}
        tone={isAbove(complained, reach.count, COMPLAINTS_GMAIL)}
        change={ofReach('complained', 'less')}
      />
      <Stat
        label="Unsubscribed"
        value={number(unsubscribed)}
        detail={`${number(total(points, 'added'))} contacts added`}
        change={count('unsubscribed', 'less')}
      />
    </Stats>
  );
}
