/** Parses a `timestamptz` as PostgreSQL writes it in UTC, `2026-11-24 09:53:14.123+00`; undefined for others, such as `infinity`. */
export function parseUtc(text: string): Date | undefined {
  const end = text.length - '+00'.length;
  if (end < 19 || end > 26 || text[4] !== '-' || !text.endsWith('+00')) return undefined;
  const digit = (at: number) => (at < end ? text.charCodeAt(at) - 48 : 0);
  const two = (at: number) => digit(at) * 10 + digit(at + 1);
  const milliseconds = digit(20) * 100 + digit(21) * 10 + digit(22);
  const year = two(0) * 100 + two(2);
  // `Date.UTC` takes years before 100 for those of the 20th century.
  if (year < 100) return undefined;
  return new Date(Date.UTC(year, two(5) - 1, two(8), two(11), two(14), two(17), milliseconds));
}
