import { graphql } from '../generated/gql.ts';
import { useApiQuery } from './api-query.ts';

/** A project has at most 200. */
const DOMAINS = graphql(`
  query DomainNames {
    domains(first: 200) {
      nodes {
        id
        domain
        unicodeName
        verifiedForSending
      }
    }
  }
`);

/** The project's domains; undefined until they are loaded. */
export const useDomains = () => useApiQuery(DOMAINS, {}).data?.domains.nodes;

/** The names of the domains that may send, as users read them; undefined until they are loaded. */
export const useSenderDomains = (): string[] | undefined =>
  useDomains()?.flatMap(({ unicodeName, verifiedForSending }) => (verifiedForSending ? [unicodeName] : []));
