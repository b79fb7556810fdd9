import { bold, count, green, red, table } from '../demo/print.ts';

/** A line of the table at the end; one that must hold and does not fails the run. */
export type Check = { name: string; value: string; holds: boolean } | undefined;

/** A figure that is only reported. */
export const counted = (name: string, value: number | string): Check => ({ name, value: inWords(value), holds: true });

/** A figure that must be as `holds` says. */
export const must = <Value extends number | string | number[]>(
  name: string,
  value: Value,
  holds: (value: Value) => boolean,
): Check => ({ name, value: inWords(value), holds: holds(value) });

const inWords = (value: number | string | number[]): string =>
  typeof value === 'string' ? value : [value].flat().map(count).join(' of ');

/** The table, and what of it does not hold. */
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
