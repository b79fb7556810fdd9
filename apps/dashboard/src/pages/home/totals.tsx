import { Text } from '@mantine/core';
import type { EmailOutcome } from '../../generated/graphql.ts';
import { Stat, Stats } from '../../components/stats.tsx';
import { changeOfCount, type EngagementCounts, engagementStats } from '../campaigns/engagement-stats.tsx';
import { AddedLink, EmailsLink, UnsubscribedLink } from './figure-links.tsx';
import type { Span } from './period.ts';
import { type Point, total } from './statistics.ts';

const countsOf = (points: readonly Point[]): EngagementCounts => ({
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
  const compared = { now: countsOf(points), before: countsOf(before), than: span.beforeWords };
  const { sent, unsubscribed } = compared.now;
  const range = span.until === undefined ? { since: span.since } : { since: span.since, until: span.until };
  const emails = (outcome: EmailOutcome, figure: number, words?: string) => (
    <EmailsLink outcome={outcome} range={range} figure={figure} words={words} />
  );
  return (
    <Stats
      label={span.title}
      about={
        compared.before.sent > 0 && (
          <Text size="sm" c="dimmed">
            Compared with {span.beforeWords}.
          </Text>
        )
      }
    >
      <Stat
        label="Sent"
        value={emails('sent', sent)}
        detail={emails('failed', total(points, 'failed'), 'failed')}
        change={changeOfCount(compared, 'sent', 'more')}
      />
      {engagementStats({
        ...compared,
        bots: { opened: total(points, 'openedByMachines'), clicked: total(points, 'clickedByMachines') },
        accepted: { value: emails('sent', sent) },
        link: emails,
      })}
      <Stat
        label="Unsubscribed"
        value={<UnsubscribedLink range={range} figure={unsubscribed} />}
        detail={<AddedLink range={range} figure={total(points, 'added')} />}
        change={changeOfCount(compared, 'unsubscribed', 'less')}
      />
    </Stats>
  );
}
