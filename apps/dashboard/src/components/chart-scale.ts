/** The width of a character of an axis, in units of the chart: wide enough for digits and most words. */
const CHARACTER_WIDTH = 8;

/** How much wider a percent sign is, in units. */
const PERCENT_EXTRA = 6;

/** The room that a label of an axis takes, in units. */
export const labelWidth = (label: string): number =>
  label.length * CHARACTER_WIDTH + (label.includes('%') ? PERCENT_EXTRA : 0);

/**
 * The values of an axis: from 0 in equal steps of 1, 2, 2.5 or 5 of a power of ten, up to the first that is no lower than `highest`. There
 * are at most six. `isWhole` is for counts, which have no fractions.
 */
export function ticksUpTo(highest: number, isWhole: boolean): number[] {
  const least = (isWhole ? Math.max(highest, 1) : highest || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(least));
  const factors = isWhole && power < 10 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  // Rounding errors must not skip a step that fits exactly.
  const factor = factors.find((each) => each * power >= least * (1 - 1e-9)) ?? 10;
  const step = isWhole ? Math.max(1, factor * power) : factor * power;
  return Array.from({ length: Math.ceil((highest / step) * (1 - 1e-9)) + 1 }, (_, index) => index * step);
}

/** Every how many points an axis has a label, so that labels do not touch. `slot` is the distance between points in units. */
export const labelInterval = (labels: readonly string[], slot: number): number =>
  Math.max(1, Math.ceil((Math.max(...labels.map(labelWidth)) + 2 * CHARACTER_WIDTH) / slot));
