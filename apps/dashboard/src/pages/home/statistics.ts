import { graphql } from '../../generated/gql.ts';
import type { StatisticsQuery } from '../../generated/graphql.ts';

export const STATISTICS = graphql(`
  query Statistics($since: DateTime!, $step: StatisticsStep!, $timeZone: String) {
    statistics(since: $since, step: $step, timeZone: $timeZone) {
      at
      sent
      delivered
      opened
      openedByMachines
      clicked
      clickedByMachines
      bounced
      complained
      failed
      unsubscribed
      added
    }
  }
`);

export type Point = StatisticsQuery['statistics'][number];

export const total = (points: readonly Point[], of: Exclude<keyof Point, 'at' | '__typename'>): number =>
  points.reduce((sum, point) => sum + point[of], 0);
