import { Text } from '@mantine/core';
import { type Better, CountChange, RateChange, rateOf } from '../../components/change.tsx';
import type { EmailOutcome } from '../../generated/graphql.ts';
import { Stat, Stats } from '../../components/stats.tsx';
import { BOUNCE_WARNING, COMPLAINTS_GMAIL, isAbove } from '../../components/thresholds.ts';
import { ofReached, percent, reachOf } from '../campaigns/campaign-labels.ts';
import { AddedLink, EmailsLink, UnsubscribedLink } from './figure-links.tsx';
import type { Span } from './period.ts';
import { type Point, total } from './statistics.ts';

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
  const range = span.until === undefined ? { since: span.since } : { since: span.since, until: span.until };
  const emails = (outcome: EmailOutcome, figure: number, words?: string) => (
    <EmailsLink outcome={outcome} range={range} figure={figure} words={words} />
  );
  /** A share of humans, and a link to what bots did. */
  const withBots = (share: string, outcome: EmailOutcome, byBots: number) =>
    byBots === 0 ? (
      share
    ) : (
      <>
        {share}; {emails(outcome, byBots, 'by bots')}
      </>
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
        value={emails('sent', sent)}
        detail={emails('failed', total(points, 'failed'), 'failed')}
        change={count('sent', 'more')}
      />
      {reach.word === 'accepted' ? (
        <Stat label="Accepted" value={emails('sent', sent)} detail="delivery not reported" />
      ) : (
        <Stat
          label="Delivered"
          value={emails('delivered', delivered)}
          detail={`${percent(delivered, sent)} of sent`}
          change={ofSent('delivered', 'more')}
        />
      )}
      <Stat
        label="Opened"
        value={emails('opened', opened)}
        detail={withBots(ofReached(opened, reach), 'opened_by_machines', total(points, 'openedByMachines'))}
        change={ofReach('opened', 'more')}
      />
      <Stat
        label="Clicked"
        value={emails('clicked', clicked)}
        detail={withBots(ofReached(clicked, reach), 'clicked_by_machines', total(points, 'clickedByMachines'))}
        change={ofReach('clicked', 'more')}
      />
      <Stat
        label="Bounced"
        value={emails('bounced', bounced)}
        detail={`${percent(bounced, sent)} of sent`}
        tone={isAbove(bounced, sent, BOUNCE_WARNING)}
        change={ofSent('bounced', 'less')}
      />
      <Stat
        label="Complained"
        value={emails('complained', complained)}
        detail={ofReached(complained, reach)}
        tone={isAbove(complained, reach.count, COMPLAINTS_GMAIL)}
        change={ofReach('complained', 'less')}
      />
      <Stat
        label="Unsubscribed"
        value={<UnsubscribedLink range={range} figure={unsubscribed} />}
        detail={<AddedLink range={range} figure={total(points, 'added')} />}
        change={count('unsubscribed', 'less')}
      />
    </Stats>
  );
}
