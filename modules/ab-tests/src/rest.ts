import { created, deletes, found, gql, page, PAGE, PAGE_ARGS, type Route } from '@postroom/platform';

const tag = 'A/B tests';
const AB_TEST = `id status samplePercent metric durationHours variantIds leaderId winnerId chosenById decision finalCampaignId startedAt endsAt
  completedAt version createdAt updatedAt`;
const DETAIL = `${AB_TEST} variants { label rate campaign { id name subject status pauseReason recipientCount
  engagement { sent opened clicked openedByMachines clickedByMachines } } }`;

export const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/ab-tests',
    needs: 'full',
    tag,
    summary: 'Make an A/B test from a draft campaign',
    document: gql`mutation ($input: CreateAbTestInput!) { createAbTest(input: $input) { ${DETAIL} } }`,
    reply: created('createAbTest'),
    errors: ['not_found'],
    example: {
      campaign_id: 'cmp_01k9zq3v5re8rt5xw7m2n4p6q8',
      variants: 2,
      sample_percent: 20,
      metric: 'opens',
      duration_hours: 24,
    },
  },
  {
    method: 'GET',
    path: '/v1/ab-tests',
    needs: 'full',
    tag,
    summary: 'List A/B tests, newest first',
    document: gql`query (${PAGE_ARGS}) {
      abTests(first: $limit, after: $cursor) { nodes { ${AB_TEST} } ${PAGE} }
    }`,
    reply: page('abTests'),
  },
  {
    method: 'GET',
    path: '/v1/ab-tests/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve an A/B test with the figures of its variants',
    document: gql`query ($id: ID!) { abTest(id: $id) { ${DETAIL} } }`,
    reply: found('abTest'),
  },
  {
    method: 'PATCH',
    path: '/v1/ab-tests/{id}',
    needs: 'full',
    tag,
    summary: 'Change the settings of an A/B test that has not been started',
    document: gql`mutation ($id: ID!, $input: UpdateAbTestInput!) { updateAbTest(id: $id, input: $input) { ${DETAIL} } }`,
    reply: found('updateAbTest'),
    example: { sample_percent: 30 },
  },
  {
    method: 'DELETE',
    path: '/v1/ab-tests/{id}',
    needs: 'full',
    tag,
    summary: 'Delete an A/B test that has not been started',
    ...deletes('deleteAbTest', 'abTestDelete'),
    errors: ['conflict'],
  },
  {
    method: 'POST',
    path: '/v1/ab-tests/{id}/start',
    needs: 'full',
    tag,
    summary: 'Start an A/B test; its variants are sent in the background',
    document: gql`mutation ($id: ID!) { startAbTest(id: $id) { ${DETAIL} } }`,
    reply: found('startAbTest'),
  },
  {
    method: 'POST',
    path: '/v1/ab-tests/{id}/choose-winner',
    needs: 'full',
    tag,
    summary: 'End a running A/B test with a winner, which the rest of the audience gets',
    document: gql`mutation ($id: ID!, $campaignId: ID!) { chooseAbTestWinner(id: $id, campaignId: $campaignId) { ${DETAIL} } }`,
    reply: found('chooseAbTestWinner'),
    example: { campaign_id: 'cmp_01k9zq3v5re8rt5xw7m2n4p6q8' },
  },
  {
    method: 'POST',
    path: '/v1/ab-tests/{id}/cancel',
    needs: 'full',
    tag,
    summary: 'Cancel a running A/B test and what its variants have not sent',
    document: gql`mutation ($id: ID!) { cancelAbTest(id: $id) { ${DETAIL} } }`,
    reply: found('cancelAbTest'),
  },
];
