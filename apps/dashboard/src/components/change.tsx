import { Text } from '@mantine/core';

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

const rounded = (value: number) => value.toLocaleString(undefined, { maximumFractionDigits: value < 100 ? 1 : 0 });

/** The change of a count, in percent. Without an earlier count there is nothing to compare with. */
export function CountChange({ now, before, ...rest }: ChangeProps) {
  if (before === 0) return null;
  return <Delta by={((now - before) / before) * 100} unit=" %" {...rest} />;
}

/** The change of a rate, in percentage points. */
export function RateChange({
  now,
  before,
  ...rest
}: Omit<ChangeProps, 'now' | 'before'> & { now: number | undefined; before: number | undefined }) {
  if (now === undefined || before === undefined) return null;
  return <Delta by={(now - before) * 100} unit=" points" {...rest} />;
}

function Delta({ by, unit, than, better }: { by: number; unit: string; than: string; better: Better }) {
  const size = rounded(Math.abs(by));
  const isSame = size === '0';
  const isGood = by > 0 === (better === 'more');
  return (
    <Text
      size="sm"
      className={isSame ? 'dimmed' : isGood ? 'change-good' : 'change-bad'}
      title={`Compared with ${than}`}
    >
      {!isSame && <span aria-hidden>{by > 0 ? '▲' : '▼'} </span>}
      <span className="visually-hidden">{isSame ? '' : by > 0 ? 'up ' : 'down '}</span>
      {isSame ? 'unchanged' : `${size}${unit}`}
      <span className="visually-hidden"> compared with {than}</span>
    </Text>
  );
}
