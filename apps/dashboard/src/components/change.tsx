import { Text } from '@mantine/core';
import { formatShare } from './numbers.ts';

/** Whether more is better, for example of delivered or of bounced messages. */
export type Better = 'more' | 'less';

interface ChangeProps {
  now: number;
  before: number;
  /** What it is compared with, such as "the 30 days before". */
  than: string;
  better: Better;
}

/** A share of a whole, or undefined if there is no whole. */
export const rateOf = (part: number, whole: number): number | undefined => (whole === 0 ? undefined : part / whole);

const points = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** The change of a count, in percent. Without an earlier count there is nothing to compare with. */
export function CountChange({ now, before, ...rest }: ChangeProps) {
  if (before === 0) return null;
  const by = (now - before) / before;
  return <Delta by={by} least={0.0005} size={formatShare(Math.abs(by), Math.abs(by) < 1 ? 1 : 0)} {...rest} />;
}

/** The change of a rate, in percentage points. */
export function RateChange({
  now,
  before,
  ...rest
}: Omit<ChangeProps, 'now' | 'before'> & { now: number | undefined; before: number | undefined }) {
  if (now === undefined || before === undefined) return null;
  const by = (now - before) * 100;
  return <Delta by={by} least={0.05} size={`${points.format(Math.abs(by))} points`} {...rest} />;
}

/** Changes below `least` round to nothing. */
function Delta({
  by,
  size,
  least,
  than,
  better,
}: {
  by: number;
  size: string;
  least: number;
  than: string;
  better: Better;
}) {
  const isSame = Math.abs(by) < least;
  const isGood = by > 0 === (better === 'more');
  return (
    <Text
      size="sm"
      className={isSame ? 'dimmed' : isGood ? 'change-good' : 'change-bad'}
      title={`Compared with ${than}`}
    >
      {!isSame && <span aria-hidden>{by > 0 ? '▲' : '▼'} </span>}
      <span className="visually-hidden">{isSame ? '' : by > 0 ? 'up ' : 'down '}</span>
      {isSame ? 'unchanged' : size}
      <span className="visually-hidden"> compared with {than}</span>
    </Text>
  );
}
