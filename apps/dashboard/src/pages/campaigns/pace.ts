import { useEffect, useRef, useState } from 'react';

const WINDOW_MS = 20_000;
const LEAST_MS = 2000;

/** How many a second were done lately, from how a count grows while it is watched; undefined until that can be told. */
export function usePace(done: number, running: boolean): number | undefined {
  const samples = useRef<{ at: number; done: number }[]>([]);
  const [pace, setPace] = useState<number>();
  useEffect(() => {
    const now = Date.now();
    samples.current = running ? [...samples.current, { at: now, done }].filter(({ at }) => now - at <= WINDOW_MS) : [];
    const [first] = samples.current;
    if (first === undefined || now - first.at < LEAST_MS) return;
    setPace(((done - first.done) / (now - first.at)) * 1000);
  }, [done, running]);
  return running ? pace : undefined;
}
