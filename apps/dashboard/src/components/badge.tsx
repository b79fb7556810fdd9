import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet';

/** The state of something in one word; never told by colour alone. */
export function StatusBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <Badge className={`state state-${tone}`} miw="max-content">
      {children}
    </Badge>
  );
}
