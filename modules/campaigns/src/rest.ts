import { created, deleted, found, gql, page, restPath, type Route } from '@postroom/platform';

const tag = 'Campaigns';

const FIELDS = `id name subject status scheduledAt recipientCount
  engagement { sent delivered deliveryTracking opened clicked bounced complained unsubscribed openedByMachines clickedByMachines }
  progress { planned claimed accepted failed suppressed unknown canceled }
  fromName fromEmail replyTo templateId templateVersion groupIds segmentIds pauseReason blocksSender waitingUntil waitingReason
  ratePerSecond trackOpens trackClicks
  startedAt completedAt recipientsDeletedAt createdAt updatedAt`;
const DETAIL = `${FIELDS} html format source text version editedById editedByName`;

/** A route that changes the status and answers with the campaign. */
const command = (name: string, mutation: string, summary: string): Route => ({
  method: 'POST',
  path: `/v1/campaigns/{id}/${name}`,
  needs: 'full',
  tag,
  summary,
  document: gql`mutation ($id: ID!) { ${mutation}(id: $id) { ${DETAIL} } }`,
  reply: found(mutation),
});

/** What a preflight may be about that `/v1` spells otherwise. A warning can also name a placeholder, which stays as it is. */
const INPUT_FIELDS = new Set(['fromName', 'fromEmail', 'replyTo', 'templateId', 'groupIds', 'segmentIds']);

/** The campaign, and how many of its recipients a decision was about. */
const decided = (status: number, { campaign, recipients }: { campaign: unknown; recipients: unknown }) => ({
  status,
  body: { data: campaign, recipients },
});

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/campaigns',
    needs: 'full',
    tag,
    summary: 'List campaigns with status and engagement summary, newest first',
    document: gql`query ($limit: Int, $cursor: String, $total: Boolean = false, $status: CampaignStatus) {
      campaigns(first: $limit, after: $cursor, status: $status) {
        nodes { ${FIELDS} }
        totalCount @include(if: $total) pageInfo { hasNextPage endCursor }
      }
    }`,
    reply: page('campaigns'),
  },
  {
    method: 'POST',
    path: '/v1/campaigns',
    needs: 'full',
    tag,
    summary: 'Create a draft',
    document: gql`mutation ($input: CreateCampaignInput!) { createCampaign(input: $input) { ${DETAIL} } }`,
    reply: created('createCampaign'),
    example: {
      name: 'November news',
      subject: 'News for {{name|you}}',
      from_name: 'Acme',
      from_email: 'news@example.com',
      html: '<p>Hello {{name|there}}!</p>',
      group_ids: ['grp_01k9zq0d5me3v8x2z4b6d8f0h1'],
    },
  },
  {
    method: 'GET',
    path: '/v1/campaigns/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve a campaign',
    document: gql`query ($id: ID!) { campaign(id: $id) { ${DETAIL} } }`,
    reply: found('campaign'),
  },
  {
    method: 'PATCH',
    path: '/v1/campaigns/{id}',
    needs: 'full',
    tag,
    summary: 'Change a draft or scheduled campaign, or the rate of one that is being sent',
    document: gql`mutation ($id: ID!, $input: UpdateCampaignInput!) {
      updateCampaign(id: $id, input: $input) { ${DETAIL} }
    }`,
    reply: found('updateCampaign'),
    example: { subject: 'News in November' },
  },
  {
    method: 'DELETE',
    path: '/v1/campaigns/{id}',
    needs: 'full',
    tag,
    summary: 'Delete a draft',
    document: gql`
      mutation deleteCampaign($id: ID!) {
        campaignDelete(id: $id) {
          deletedId
        }
      }
    `,
    reply: deleted(),
  },
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/send',
    needs: 'full',
    tag,
    summary: 'Start a campaign now; its messages go out in the background',
    document: gql`
      mutation ($id: ID!) {
        sendCampaign(id: $id) {
          id
          status
        }
      }
    `,
    // What was started is sending, however far it has come by the time it is read again (spec: Campaigns).
    reply: ({ sendCampaign }) => ({ status: 202, body: { data: { id: sendCampaign.id, status: 'sending' } } }),
    statuses: [202],
  },
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/schedule',
    needs: 'full',
    tag,
    summary: 'Schedule or reschedule a campaign',
    document: gql`mutation ($id: ID!, $input: ScheduleCampaignInput!) {
      scheduleCampaign(id: $id, input: $input) { ${DETAIL} }
    }`,
    reply: found('scheduleCampaign'),
    example: { scheduled_at: '2026-12-01T09:00:00+01:00' },
  },
  command('unschedule', 'unscheduleCampaign', 'Make a scheduled campaign a draft again'),
  command('pause', 'pauseCampaign', 'Pause a campaign that is being sent'),
  command('resume', 'resumeCampaign', 'Resume a paused campaign'),
  command(
    'acknowledge',
    'acknowledgeCampaign',
    'Let campaigns be sent from a domain again that a completed campaign blocks by its bounces or complaints',
  ),
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/recipients/retry',
    needs: 'full',
    tag,
    summary: 'Send again to recipients who were refused; a completed campaign goes on',
    document: gql`mutation ($id: ID!, $recipientIds: [ID!]) {
      retryCampaignRecipients(id: $id, recipientIds: $recipientIds) { recipients campaign { ${DETAIL} } }
    }`,
    reply: ({ retryCampaignRecipients }) => decided(202, retryCampaignRecipients),
    statuses: [202],
  },
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/recipients/resend',
    needs: 'full',
    tag,
    summary: 'Send again to recipients whose outcome is unknown; some may get it twice',
    document: gql`mutation ($id: ID!, $acceptDuplicates: Boolean!, $recipientIds: [ID!]) {
      resendCampaignRecipients(id: $id, acceptDuplicates: $acceptDuplicates, recipientIds: $recipientIds) {
        recipients campaign { ${DETAIL} }
      }
    }`,
    reply: ({ resendCampaignRecipients }) => decided(202, resendCampaignRecipients),
    example: { accept_duplicates: true },
    statuses: [202],
  },
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/recipients/resolve',
    needs: 'full',
    tag,
    summary: 'Say what became of recipients whose outcome is unknown; nothing is sent',
    document: gql`mutation ($id: ID!, $outcome: UnknownOutcome!, $recipientIds: [ID!]) {
      resolveCampaignRecipients(id: $id, outcome: $outcome, recipientIds: $recipientIds) {
        recipients campaign { ${DETAIL} }
      }
    }`,
    reply: ({ resolveCampaignRecipients }) => decided(200, resolveCampaignRecipients),
    example: { outcome: 'accepted' },
  },
  command('cancel', 'cancelCampaign', 'End a campaign; what has not gone out never will'),
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/test',
    needs: 'full',
    tag,
    summary: 'Send a campaign as it is now to a few addresses',
    document: gql`
      mutation ($id: ID!, $input: TestCampaignInput!) {
        testCampaign(id: $id, input: $input) {
          id: messageId
          status
        }
      }
    `,
    reply: ({ testCampaign }) => ({ status: 202, body: { data: testCampaign } }),
    example: { emails: ['me@example.com'] },
    statuses: [202],
  },
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/preflight',
    needs: 'full',
    tag,
    summary: 'What would happen if the campaign were sent now; changes nothing',
    document: gql`
      query ($id: ID!) {
        campaignPreflight(id: $id) {
          isReady
          tracksOpens
          tracksClicks
          messageBytes
          estimatedSeconds
          problems {
            field
            message
          }
          warnings {
            field
            message
          }
          audience {
            contacts
            recipients
            excluded {
              reason
              contacts
            }
          }
          variables {
            name
            fallback
            missing
            examples
          }
        }
      }
    `,
    reply: (data) => {
      // In place, so that the reference still finds the answer to be a Preflight.
      for (const finding of [...data.campaignPreflight.problems, ...data.campaignPreflight.warnings])
        if (INPUT_FIELDS.has(finding.field)) finding.field = restPath(finding.field);
      return found('campaignPreflight')(data);
    },
  },
  {
    method: 'GET',
    path: '/v1/campaigns/{id}/recipients',
    needs: 'full',
    tag,
    summary: 'List the recipients of a campaign by state',
    document: gql`
      query ($id: ID!, $limit: Int, $cursor: String, $total: Boolean = false, $state: RecipientState, $email: String) {
        campaignRecipients(id: $id, first: $limit, after: $cursor, state: $state, email: $email) {
          nodes {
            id: messageId
            contactId
            email
            state
            answer
            deferrals
            notBefore
            claimedAt
            acceptedAt
            deliveredAt
            openedAt
            clickedAt
            bouncedAt
            complainedAt
            unsubscribedAt
          }
          totalCount @include(if: $total)
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    `,
    reply: page('campaignRecipients'),
  },
  {
    method: 'GET',
    path: '/v1/campaigns/{id}/links',
    needs: 'full',
    tag,
    summary: 'The tracked links of a campaign, with clicks by people and by programs',
    document: gql`
      query ($id: ID!) {
        campaignLinks(id: $id) {
          position
          url
          clicks
          uniqueClicks
          clicksByMachines
        }
      }
    `,
    reply: found('campaignLinks'),
  },
];
