import { graphql } from '../../generated/gql.ts';
import type { StatisticsQuery, StatisticsStep } from '../../generated/graphql.ts';
import { reachOf } from '../campaigns/campaign-labels.ts';

export const STATISTICS = graphql(`
  query Statistics($since: DateTime!, $until: DateTime, $step: StatisticsStep!, $timeZone: String) {
    statistics(since: $since, until: $until, step: $step, timeZone: $timeZone) {
      at
      sent
      delivered
      opened
      openedByMachines
      clicked
      clickedByMachines
      bounced
      complained
      rejected
      failed
      unsubscribed
      added
    }
  }
`);

export type Point = StatisticsQuery['statistics'][number];

export const total = (points: readonly Point[], of: Exclude<keyof Point, 'at' | '__typename'>): number =>
  points.reduce((sum, point) => sum + point[of], 0);

/** The share of messages that bounced and that were marked as spam, up to a point. */
export interface RatePoint {
  at: string;
  /** Null if nothing was sent. */
  bounced: number | null;
  complained: number | null;
}

/** How many points a rate averages: single days of little mail say nothing. */
export const AVERAGING_POINTS: Record<StatisticsStep, number> = { hour: 24, day: 7 };

/** Moving averages of the bounce and complaint rates. */
export function ratesOf(points: readonly Point[], step: StatisticsStep): RatePoint[] {
  return points.map(({ at }, index) => {
    const window = points.slice(Math.max(0, index + 1 - AVERAGING_POINTS[step]), index + 1);
    const sent = total(window, 'sent');
    const reached = reachOf({ sent, delivered: total(window, 'delivered') }).count;
    return {
      at,
      bounced: share(total(window, 'bounced'), sent),
      complained: share(total(window, 'complained'), reached),
    };
  });
}

/** Reports come in later than the mail they are about, so in a short window there may be more of them. */
const share = (part: number, whole: number) => (whole === 0 ? null : Math.min(1, part / whole));
