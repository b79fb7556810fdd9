import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet';

const COLORS: Record<Tone, string> = { good: 'green', bad: 'red', warn: 'yellow', busy: 'blue', quiet: 'gray' };

/** The state of something in one word; never told by colour alone. */
export function State({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <Badge color={COLORS[tone]} variant="light" className={`state state-${tone}`}>
      {children}
    </Badge>
  );
}
