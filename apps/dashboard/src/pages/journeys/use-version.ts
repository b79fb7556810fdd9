import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { type Definition, readDefinition } from './definition.ts';

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

/** The definition of a published version; undefined while it is loaded. */
export function useVersion(journeyId: string, number: number | undefined): Definition | undefined {
  const { data } = useApiQuery(VERSION, { journeyId, number: number ?? 0 }, { pause: number === undefined });
  const [found] = data?.journeyVersions.nodes ?? [];
  return found?.number === number ? readDefinition(found?.definition) : undefined;
}
