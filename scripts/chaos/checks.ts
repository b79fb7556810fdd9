import { bold, count, green, red, table } from '../demo/print.ts';

/** A line of the final table; a violated check fails the run. */
export type Check = { name: string; value: string; holds: boolean } | undefined;

/** A figure for information. */
export const counted = (name: string, value: number | string): Check => ({ name, value: inWords(value), holds: true });

/** A figure that must satisfy `holds`. */
export const must = <Value extends number | string | number[]>(
  name: string,
  value: Value,
  holds: (value: Value) => boolean,
): Check => ({ name, value: inWords(value), holds: holds(value) });

const inWords = (value: number | string | number[]): string =>
  typeof value === 'string' ? value : [value].flat().map(count).join(' of ');

/** Prints the table and the violated checks. */
export function report(checks: readonly Check[]): { ok: boolean; text: string } {
  const wrong = checks.filter((check) => check !== undefined).filter(({ holds }) => !holds);
  const rows = checks.map((check): [string, string] | undefined =>
    check === undefined ? undefined : [check.name, `${check.holds ? '' : '✗ '}${check.value}`],
  );
  const verdict =
    wrong.length === 0
      ? `${green('✓')} ${bold('Nothing lost, nothing duplicated, nothing stuck.')}`
      : wrong.map(({ name, value }) => `${red('✗')} ${bold(`${name}: ${value}`)}`).join('\n');
  return { ok: wrong.length === 0, text: `${table(rows)}\n\n${verdict}` };
}
