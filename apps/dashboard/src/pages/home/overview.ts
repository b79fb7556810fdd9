import { graphql } from '../../generated/gql.ts';
import type { OverviewQuery } from '../../generated/graphql.ts';

export const OVERVIEW = graphql(`
  query Overview {
    projects {
      id
      statisticsDays
    }
    domains(first: 200) {
      nodes {
        id
        domain
        unicodeName
        verification
        verifiedForSending
      }
    }
    webhookEndpoints(first: 200) {
      nodes {
        id
        url
        description
        enabled
        disabledReason
        health {
          state
          acknowledged
          failed
        }
      }
    }
    mailboxAccounts {
      id
      email
      status
      statusReason
    }
    contacts(first: 1) {
      nodes {
        id
      }
    }
    groups(first: 1) {
      nodes {
        id
      }
    }
    sending: campaigns(first: 10, status: sending) {
      nodes {
        id
        name
        recipientCount
        countingRecipients
        progress {
          planned
          claimed
        }
      }
    }
    paused: campaigns(first: 10, status: paused) {
      nodes {
        id
        name
        pauseReason
      }
    }
    recent: campaigns(first: 5) {
      nodes {
        id
        name
        status
        startedAt
        scheduledAt
        recipientCount
        engagement {
          sent
          delivered
          opened
          clicked
          unsubscribed
        }
        progress {
          unknown
        }
      }
    }
  }
`);

export type Overview = OverviewQuery;
