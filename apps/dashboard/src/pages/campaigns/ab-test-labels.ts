import type { Tone } from '../../components/badge.tsx';
import type { AbTestDecision, AbTestMetric, AbTestStatus } from '../../generated/graphql.ts';

export const AB_TEST_STATUS: Record<AbTestStatus, [tone: Tone, label: string]> = {
  draft: ['quiet', 'Draft'],
  testing: ['busy', 'Testing'],
  completed: ['good', 'Completed'],
  canceled: ['quiet', 'Canceled'],
};

export const METRICS: Record<AbTestMetric, string> = { opens: 'Opens', clicks: 'Clicks' };

/** The badge of the winner: without a best rate, it was only the first. */
export const winnerBadge = (decision: AbTestDecision | null): string =>
  decision === 'tie' || decision === 'no_reactions' ? 'Chosen' : 'Won';

/** How the rates chose the winner: a title if none had the best rate, and the reason. Nothing if a user chose it. */
export function describeDecision(
  decision: AbTestDecision | null,
  winner: string,
  metric: AbTestMetric,
): { title?: string; reason?: string } {
  if (decision === 'best_rate') return { reason: `It had the best rate of ${metric} when the time was up.` };
  if (decision === 'tie')
    return {
      title: `It was a tie, so variant ${winner} was chosen`,
      reason: `Several variants had the same best rate of ${metric} when the time was up. The first of them is chosen then.`,
    };
  if (decision === 'no_reactions')
    return {
      title: `There were no ${metric}, so variant ${winner} was chosen`,
      reason: `No variant had any ${metric} when the time was up. The first one is chosen then.`,
    };
  return {};
}
