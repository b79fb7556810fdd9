import { created, gql, page, PAGE, PAGE_ARGS, type Route, type StreamRoute } from '@postroom/platform';
import { streamRecipients } from './export.ts';

const tag = 'Campaigns';

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/campaigns/{id}/recipients',
    needs: 'full',
    tag,
    summary: 'List the recipients of a campaign by state, outcome, clicked link or address',
    document: gql`query ($id: ID!, ${PAGE_ARGS}, $state: RecipientState, $outcome: RecipientOutcome, $bounceClass: BounceClass, $link: Int,
      $email: String, $search: String) {
      campaignRecipients(id: $id, first: $limit, after: $cursor, state: $state, outcome: $outcome, bounceClass: $bounceClass, link: $link,
        email: $email, search: $search) {
        nodes { id: messageId contactId email state status answer deferrals notBefore claimedAt acceptedAt unsentAt
          deliveredAt openedAt clickedAt openedByMachinesAt clickedByMachinesAt bouncedAt bounceClass bounceReason
          complainedAt rejectedAt unsubscribedAt resubscribedAt }
        ${PAGE}
      }
    }`,
    reply: page('campaignRecipients'),
  },
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/recipients/group',
    needs: 'full',
    tag,
    summary: 'Create a group from recipients of a campaign',
    document: gql`
      mutation ($id: ID!, $name: String!, $filter: CampaignRecipientFilter!) {
        createGroupFromRecipients(id: $id, name: $name, filter: $filter) {
          id
          name
          contactCount
        }
      }
    `,
    reply: created('createGroupFromRecipients'),
    example: { name: 'Clicked in November', filter: { outcome: 'clicked' } },
  },
];

export const streams: StreamRoute[] = [
  {
    method: 'GET',
    path: '/v1/campaigns/{id}/recipients/export',
    needs: 'full',
    tag,
    operationId: 'exportCampaignRecipients',
    summary: 'Export recipients of a campaign as a CSV file, newest first',
    description:
      `All recipients that pass every filter given, those of one moment, with their outcomes. Values that a spreadsheet
would run as a formula begin with a \`'\`.`.replaceAll('\n', ' '),
    options: 'CampaignRecipientFilter',
    answers: { status: 200, description: 'The recipients.', content: { 'text/csv': { type: 'string' } } },
    answer: streamRecipients,
  },
];
