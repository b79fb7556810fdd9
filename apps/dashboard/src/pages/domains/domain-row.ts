import { graphql } from '../../generated/gql.ts';
import type { DomainQuery } from '../../generated/graphql.ts';

export const DOMAIN = graphql(`
  query Domain($domain: String!) {
    domain(domain: $domain) {
      id
      domain
      unicodeName
      verifiedForSending
      verification
      region
      mailFromDomain
      trackingDomain
      trackingRecord {
        purpose
        type
        name
        value
        status
        found
        note
      }
      zone
      nameservers
      checkedAt
      nextCheckAt
      blockedAt
      blockedReason
      workflowUrl
      warmup {
        steps
        since
        step
        isWarm
        todayLimit
        todaySent
      }
      dnsProvider {
        id: code
        name
        editorUrl
      }
      records {
        purpose
        type
        name
        value
        status
        found
        note
      }
      recommendations {
        id: code
        severity
        title
        detail
        record {
          type
          name
          value
        }
      }
      lifecycle {
        at
        type
        part
        actor
        actorName
        detail
      }
    }
  }
`);

export type Domain = DomainQuery['domain'];
