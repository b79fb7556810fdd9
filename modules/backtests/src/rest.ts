import { created, found, gql, page, PAGE, PAGE_ARGS, type Route, type StreamRoute } from '@postroom/platform';
import { streamContacts } from './export.ts';

const tag = 'Journeys';
const SUMMARY = 'version contacts runs completed exited reachedGoal inProgress messages notAgain notMatching';
const BACKTEST = `id journeyId status days until total processed listed error
  assumptions { delivered opened clicked bounced complained unsubscribed } segmentId
  candidate { ${SUMMARY} } baseline { ${SUMMARY} } differences { difference contacts } cancelRequestedAt createdAt finishedAt`;
const SIDE = `${SUMMARY} definition steps { stepId reached waiting outcomes { outcome count } } sent { stepId templateId day count }`;
const DETAIL = `id journeyId status days until total processed listed error notes
  assumptions { delivered opened clicked bounced complained unsubscribed } segmentId
  candidate { ${SIDE} } baseline { ${SIDE} } differences { difference contacts } cancelRequestedAt createdAt finishedAt`;
const RUNS = 'enteredAt endedAt endReason stepId dueAt steps { stepId arrivedAt leftAt outcome }';

export const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/backtests',
    needs: 'full',
    tag,
    summary: 'Run a journey against the last days without sending anything',
    document: gql`mutation ($input: StartBacktestInput!) { startBacktest(input: $input) { ${BACKTEST} } }`,
    reply: created('startBacktest'),
    errors: ['not_found'],
    example: { journey_id: 'jrn_01k9zq3v5re8rt5xw7m2n4p6q8', days: 30, baseline: { version: 1 } },
  },
  {
    method: 'GET',
    path: '/v1/backtests',
    needs: 'full',
    tag,
    summary: 'List backtests, newest first',
    document: gql`query (${PAGE_ARGS}, $journeyId: ID) {
      backtests(first: $limit, after: $cursor, journeyId: $journeyId) { nodes { ${BACKTEST} } ${PAGE} }
    }`,
    reply: page('backtests'),
    errors: ['not_found'],
  },
  {
    method: 'GET',
    path: '/v1/backtests/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve a backtest with its figures by step and day',
    document: gql`query ($id: ID!) { backtest(id: $id) { ${DETAIL} } }`,
    reply: found('backtest'),
  },
  {
    method: 'POST',
    path: '/v1/backtests/{id}/cancel',
    needs: 'full',
    tag,
    summary: 'Cancel a backtest',
    document: gql`mutation ($id: ID!) { cancelBacktest(id: $id) { ${BACKTEST} } }`,
    reply: found('cancelBacktest'),
  },
  {
    method: 'GET',
    path: '/v1/backtests/{id}/contacts',
    needs: 'full',
    tag,
    summary: 'List the contacts that would have entered, with their steps',
    document: gql`query ($id: ID!, ${PAGE_ARGS}, $side: BacktestSide, $stepId: String, $outcome: String,
      $day: String, $result: String, $difference: BacktestDifference, $search: String) {
      backtestContacts(id: $id, first: $limit, after: $cursor,
        filter: { side: $side, stepId: $stepId, outcome: $outcome, day: $day, result: $result, difference: $difference, search: $search }) {
        nodes { id contactId contact { email name } difference candidate { ${RUNS} } baseline { ${RUNS} } }
        ${PAGE}
      }
    }`,
    reply: page('backtestContacts'),
  },
];

export const streams: StreamRoute[] = [
  {
    method: 'GET',
    path: '/v1/backtests/{id}/contacts/export',
    needs: 'full',
    tag,
    operationId: 'exportBacktestContacts',
    summary: 'Export the simulated steps of contacts as a CSV file',
    description:
      "One line for each step of each run of the contacts that pass every filter. Values that a spreadsheet would run as a formula begin with a `'`.",
    options: 'BacktestContactFilter',
    answers: { status: 200, description: 'The steps.', content: { 'text/csv': { type: 'string' } } },
    answer: streamContacts,
  },
];
