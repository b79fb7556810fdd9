import { useApiQuery } from '../../data/api-query.ts';
import { everyPageOf } from '../../data/every-page.ts';
import { graphql } from '../../generated/gql.ts';
import { formatDayAndTime } from '../../components/when.tsx';
import { readDefinition } from './definition.ts';
import type { Definition } from './definition-types.ts';

const VERSIONS = graphql(`
  query JourneyVersions($journeyId: ID!, $after: String) {
    journeyVersions(journeyId: $journeyId, first: 1000, after: $after) {
      nodes {
        number
        publishedAt
        publishedByName
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const VERSION = graphql(`
  query JourneyVersion($journeyId: ID!, $number: Int!) {
    journeyVersions(journeyId: $journeyId, number: $number, first: 1) {
      nodes {
        number
        definition
      }
    }
  }
`);

const allVersions = everyPageOf('journeyVersions');

/** The definition of a published version; undefined while it is loaded. */
export function useVersion(journeyId: string, number: number | undefined): Definition | undefined {
  const { data } = useApiQuery(VERSION, { journeyId, number: number ?? 0 }, { pause: number === undefined });
  const [found] = data?.journeyVersions.nodes ?? [];
  return found !== undefined && found.number === number ? readDefinition(found.definition) : undefined;
}

/** What is chosen for the draft instead of the number of a version. */
export const DRAFT = 'draft';

/** The draft and the published versions of a journey, the newest first, for a select. */
export function useVersionOptions(journeyId: string): { value: string; label: string }[] {
  const versions = useApiQuery(VERSIONS, { journeyId }, { ask: allVersions }).data?.journeyVersions.nodes ?? [];
  return [
    { value: DRAFT, label: 'Draft' },
    ...versions.map(({ number, publishedAt, publishedByName }) => ({
      value: String(number),
      label: `Version ${number}, ${formatDayAndTime(publishedAt)}${publishedByName === null ? '' : ` by ${publishedByName}`}`,
    })),
  ];
}
