import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSingleRun } from './use-single-run.ts';

/** The button of a row that acts at once: it shows that it runs, and meanwhile does nothing more. */
export function RowButton({
  color,
  run,
  children,
}: {
  color: string;
  run: () => Promise<unknown>;
  children: ReactNode;
}) {
  const [running, runOnce] = useSingleRun();
  return (
    <Button size="compact-sm" variant="subtle" color={color} loading={running} onClick={() => void runOnce(run)}>
      {children}
    </Button>
  );
}
