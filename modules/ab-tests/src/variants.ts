import { type Campaign, type Share, WHOLE_AUDIENCE } from '@postroom/campaigns';
import type { Prisma } from '@postroom/platform';

/** How the rates of the variants chose the winner. */
export type Decision = NonNullable<Prisma.AbTestModel['decision']>;

type Metric = Prisma.AbTestModel['metric'];

/** What a variant is called: A for the first. */
export const labelOf = (index: number): string => String.fromCharCode(65 + index);

/** A variant's share of the audience: they are equal, have nothing in common and together are the sample. */
export function shareOf(
  index: number,
  { samplePercent, variants }: { samplePercent: number; variants: number },
): Share {
  const sample = (WHOLE_AUDIENCE * samplePercent) / 100;
  const begin = (at: number) => Math.floor((sample * at) / variants);
  return { from: begin(index), to: begin(index + 1) };
}

type Counts = Pick<Campaign, 'acceptedCount' | 'openedCount' | 'clickedCount'>;
type Candidate = Counts & Pick<Campaign, 'status'>;

/** The people who opened or clicked, as a fraction of the accepted messages; null if there are none. */
export const rateOf = ({ acceptedCount, openedCount, clickedCount }: Counts, metric: Metric): number | null =>
  acceptedCount === 0 ? null : (metric === 'opens' ? openedCount : clickedCount) / acceptedCount;

/** The variants that can win: a user who canceled one does not want it to be sent. */
export const candidatesOf = <Variant extends Candidate>(variants: readonly Variant[]): Variant[] =>
  variants.filter(({ status }) => status !== 'canceled');

/** The candidate with the best rate, the first of equal ones; undefined while no message was accepted. */
export function leaderOf<Variant extends Candidate>(variants: readonly Variant[], metric: Metric): Variant | undefined {
  let best: Variant | undefined;
  for (const variant of candidatesOf(variants)) {
    const rate = rateOf(variant, metric);
    if (rate !== null && (best === undefined || rate > (rateOf(best, metric) ?? 0))) best = variant;
  }
  return best;
}

/** How the rates choose the leader: alone, as the first of several with the same rate, or as the first one without any opens or clicks. */
export function decisionOf(variants: readonly Candidate[], metric: Metric): Decision {
  const rates = candidatesOf(variants).map((variant) => rateOf(variant, metric) ?? 0);
  const best = Math.max(0, ...rates);
  if (best === 0) return 'no_reactions';
  return rates.filter((rate) => rate === best).length > 1 ? 'tie' : 'best_rate';
}
