import { type EventType, MAX_ID_LENGTH, type NewEvent } from '@postroom/platform';
import { z } from 'zod';

const id = z.string().max(MAX_ID_LENGTH);

const ended = z.object({
  ab_test_id: id.describe('A/B test id.'),
  variant_ids: z.array(id).describe('The campaigns that are its variants, in order.'),
});

const example = {
  ab_test_id: 'abt_01k9zq3v5re8rt5xw7m2n4p6q8',
  variant_ids: ['cmp_01k9zq2h6ke4s8x1z3b5d7f9g1', 'cmp_01k9zq2h6ke4s8x1z3b5d7f9g2'],
};

export const eventTypes = {
  'ab_test.completed': {
    fires: 'The winner of an A/B test was chosen. The rest of the audience gets it.',
    data: ended.extend({
      winner_id: id.describe('The campaign that is the variant that won.'),
      chosen_by: z.enum(['metric', 'user', 'api']).describe('Who chose it: the opens or clicks, a user or an API key.'),
      final_campaign_id: id.nullable().describe('The campaign that sends the winner to the rest; null without a rest.'),
    }),
    example: {
      ...example,
      winner_id: 'cmp_01k9zq2h6ke4s8x1z3b5d7f9g2',
      chosen_by: 'metric',
      final_campaign_id: 'cmp_01k9zq4c8fe1m9v3t5w7y2a4b6',
    },
  },
  'ab_test.canceled': { fires: 'A running A/B test was canceled. No winner was chosen.', data: ended, example },
} satisfies Record<string, EventType>;

interface AbTestRef {
  id: string;
  variantIds: string[];
}

/** The winner of a test was chosen, by the metric if `chosenById` is null. */
export const abTestCompleted = (
  { id, variantIds }: AbTestRef,
  {
    winnerId,
    chosenById,
    finalCampaignId,
  }: Record<'winnerId', string> & Record<'chosenById' | 'finalCampaignId', string | null>,
): NewEvent => ({
  type: 'ab_test.completed',
  data: {
    ab_test_id: id,
    variant_ids: variantIds,
    winner_id: winnerId,
    chosen_by: chosenById === null ? 'metric' : chosenById.startsWith('usr_') ? 'user' : 'api',
    final_campaign_id: finalCampaignId,
  },
});

/** A running test was canceled. */
export const abTestCanceled = ({ id, variantIds }: AbTestRef): NewEvent => ({
  type: 'ab_test.canceled',
  data: { ab_test_id: id, variant_ids: variantIds },
});
