import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { Postroom } from '../../../sdk/typescript/src/index.ts';
import { answer, page, paging, READS, SENDS } from './answers.ts';

const abTestId = z.string().regex(/^abt_/).describe('A/B test id, abt_….');

/** Tools for A/B tests of campaigns. */
export function registerAbTestTools(server: McpServer, postroom: Postroom): void {
  server.registerTool(
    'list_ab_tests',
    {
      title: 'List A/B tests',
      description: 'A/B tests of campaigns with their status, settings, leading variant and winner.',
      inputSchema: z.strictObject(paging),
      annotations: READS,
    },
    (query) => answer(async () => page(await postroom.abTests.list(query))),
  );
  server.registerTool(
    'get_ab_test',
    {
      title: 'Get an A/B test',
      description: 'An A/B test with the campaigns that are its variants, and their counts and rates.',
      inputSchema: z.strictObject({ ab_test_id: abTestId }),
      annotations: READS,
    },
    ({ ab_test_id }) => answer(() => postroom.abTests.get(ab_test_id)),
  );
  server.registerTool(
    'start_ab_test',
    {
      title: 'Start an A/B test',
      description:
        'Sends the variants of an A/B test to their shares of the audience now, and the best one to the rest when the time is up. This cannot be undone: read it with get_ab_test first and ask the user to confirm.',
      inputSchema: z.strictObject({ ab_test_id: abTestId }),
      annotations: SENDS,
    },
    ({ ab_test_id }) => answer(() => postroom.abTests.start(ab_test_id)),
  );
  server.registerTool(
    'choose_ab_test_winner',
    {
      title: 'Choose the winner of an A/B test',
      description:
        'Ends a running A/B test with the variant that is given, and sends it to the rest of the audience now. This cannot be undone: ask the user to confirm.',
      inputSchema: z.strictObject({
        ab_test_id: abTestId,
        campaign_id: z.string().regex(/^cmp_/).describe('The campaign that is the variant, cmp_….'),
      }),
      annotations: SENDS,
    },
    ({ ab_test_id, campaign_id }) => answer(() => postroom.abTests.chooseWinner(ab_test_id, campaign_id)),
  );
}
