import { accepted, created, deletes, found, gql, page, PAGE, PAGE_ARGS, type Route } from '@postroom/platform';
import { scheduleStatusProblem, type State, statusProblem } from './sending.ts';

const tag = 'Campaigns';

const FIELDS = `id name subject status scheduledAt localTime timeZone timeZoneField recipientCount countingRecipients
  engagement { sent delivered deliveryTracking opened clicked bounced rejected complained unsubscribed openedByMachines clickedByMachines }
  progress { planned claimed accepted failed suppressed unknown canceled }
  deferred { messages nextRetryAt }
  awaitingLocalTime { messages nextAt }
  previewText fromName fromEmail replyTo templateId templateVersion groupIds segmentIds excludedGroupIds excludedSegmentIds
  utmSource utmMedium utmCampaign utmTerm utmContent pauseReason blocksSender waitingUntil waitingReason
  ratePerSecond trackOpens trackClicks abTestId
  startedAt completedAt recipientsDeletedAt createdAt updatedAt`;
const DETAIL = `${FIELDS} html format source text version editedById editedByName`;

/** A route that changes the status and returns the campaign. */
const command = (name: string, mutation: string, summary: string): Route => ({
  method: 'POST',
  path: `/v1/campaigns/{id}/${name}`,
  needs: 'full',
  tag,
  summary,
  document: gql`mutation ($id: ID!) { ${mutation}(id: $id) { ${DETAIL} } }`,
  reply: found(mutation),
});

/** The number of recipients affected, along with the campaign. */
const affectedBy = (mutation: string) => ({ beside: { recipients: `${mutation}.recipients` } });

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/campaigns',
    needs: 'full',
    tag,
    summary: 'List campaigns with status and engagement summary, newest first',
    document: gql`query (${PAGE_ARGS}, $status: CampaignStatus, $search: String) {
      campaigns(first: $limit, after: $cursor, status: $status, search: $search) {
        nodes { ${FIELDS} }
        ${PAGE}
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
      preview_text: 'What we did in November',
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
    summary: 'Update a draft or scheduled campaign, or the rate of one that is sending',
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
    ...deletes('deleteCampaign', 'campaignDelete'),
    errors: ['conflict'],
  },
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/send',
    needs: 'full',
    tag,
    summary: 'Start a campaign now; messages are sent in the background',
    document: gql`
      mutation ($id: ID!) {
        sendCampaign(id: $id) {
          id
          status
        }
      }
    `,
    // The response always says `sending`, even if the campaign has moved on by the time it is read (spec: Campaigns).
    reply: accepted({ id: 'sendCampaign.id', status: { constant: 'sending' } }),
    stateProblem: (campaign) => statusProblem(campaign as unknown as State),
  },
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/schedule',
    needs: 'full',
    tag,
    summary: 'Schedule or reschedule a campaign, for an instant or the local time of each recipient',
    document: gql`mutation ($id: ID!, $input: ScheduleCampaignInput!) {
      scheduleCampaign(id: $id, input: $input) { ${DETAIL} }
    }`,
    reply: found('scheduleCampaign'),
    stateProblem: (campaign) => scheduleStatusProblem(campaign as unknown as State),
    example: { scheduled_at: '2026-12-01T09:00:00+01:00' },
  },
  command(
    'unschedule',
    'unscheduleCampaign',
    'Turn a campaign that is scheduled, or could not start at its scheduled time, back into a draft',
  ),
  command('pause', 'pauseCampaign', 'Pause a sending campaign'),
  command('resume', 'resumeCampaign', 'Resume a paused campaign'),
  command(
    'acknowledge',
    'acknowledgeCampaign',
    'Acknowledge a completed campaign whose bounces or complaints block its domain, and lift the block',
  ),
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/recipients/retry',
    needs: 'full',
    tag,
    summary: 'Retry failed recipients; a completed campaign resumes',
    document: gql`mutation ($id: ID!, $recipientIds: [ID!]) {
      retryCampaignRecipients(id: $id, recipientIds: $recipientIds) { recipients campaign { ${DETAIL} } }
    }`,
    reply: accepted('retryCampaignRecipients.campaign', affectedBy('retryCampaignRecipients')),
  },
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/recipients/resend',
    needs: 'full',
    tag,
    summary: 'Resend to recipients whose outcome is unknown; some may get the message twice',
    document: gql`mutation ($id: ID!, $acceptDuplicates: Boolean!, $recipientIds: [ID!]) {
      resendCampaignRecipients(id: $id, acceptDuplicates: $acceptDuplicates, recipientIds: $recipientIds) {
        recipients campaign { ${DETAIL} }
      }
    }`,
    reply: accepted('resendCampaignRecipients.campaign', affectedBy('resendCampaignRecipients')),
    example: { accept_duplicates: true },
  },
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/recipients/resolve',
    needs: 'full',
    tag,
    summary: 'Resolve recipients whose outcome is unknown; nothing is sent',
    document: gql`mutation ($id: ID!, $outcome: UnknownOutcome!, $recipientIds: [ID!]) {
      resolveCampaignRecipients(id: $id, outcome: $outcome, recipientIds: $recipientIds) {
        recipients campaign { ${DETAIL} }
      }
    }`,
    reply: found('resolveCampaignRecipients.campaign', affectedBy('resolveCampaignRecipients')),
    example: { outcome: 'accepted' },
  },
  command('cancel', 'cancelCampaign', 'Cancel a campaign; unsent messages are never sent'),
  {
    method: 'GET',
    path: '/v1/campaigns/{id}/links',
    needs: 'full',
    tag,
    summary: 'List the tracked links of a campaign, with clicks by humans and bots',
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
