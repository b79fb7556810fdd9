import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet';

/** A status badge. The text carries the meaning, not only the color. */
export function StatusBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <Badge component="span" className={`state state-${tone}`}>
      {children}
    </Badge>
  );
}
