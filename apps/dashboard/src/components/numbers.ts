const seconds = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Formats a duration; a dash if unknown. */
export function formatDuration(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 1000 ? `${ms} ms` : `${seconds.format(ms / 1000)} s`;
}

/** Formats a share, such as 0.125, as a percentage as the user's locale writes it: "12.5%" or "12,5 %". */
export const formatShare = (share: number, most = 0, least = 0): string =>
  share.toLocaleString(undefined, { style: 'percent', maximumFractionDigits: most, minimumFractionDigits: least });

/** Formats a whole percentage, such as 50, in the same way. */
export const formatPercent = (percent: number): string => formatShare(percent / 100, 2);

/** A number with its noun: `1 contact`, `2 contacts`. */
export const countOf = (value: number, one: string, many = `${one}s`): string =>
  `${value.toLocaleString()} ${value === 1 ? one : many}`;

/** Joins words: `A, B, and C`. */
export const list = new Intl.ListFormat('en');
