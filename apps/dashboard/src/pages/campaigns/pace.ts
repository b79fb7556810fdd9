import { useEffect, useRef, useState } from 'react';

const WINDOW_MS = 20_000;
const LEAST_MS = 2000;
const LOOK_EVERY_MS = 1000;

interface Sample {
  at: number;
  done: number;
}

/**
 * Messages per second, measured while the page is open, initially averaged since the start. 0 if stalled; undefined
 * if unknown or not running.
 */
export function usePace(done: number, running: boolean, startedAt: string | null): number | undefined {
  const samples = useRef<Sample[]>([]);
  const [pace, setPace] = useState<number>();
  useEffect(() => {
    if (!running) samples.current = [];
    else if (samples.current.at(-1)?.done !== done) samples.current.push({ at: Date.now(), done });
    const look = () => setPace(running ? paceOf(samples.current, startedAt) : undefined);
    look();
    const timer = setInterval(look, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [done, running, startedAt]);
  return running ? pace : undefined;
}

function paceOf(samples: Sample[], startedAt: string | null): number | undefined {
  const now = Date.now();
  // The last sample before the window is its baseline.
  while (samples[1] !== undefined && now - samples[1].at > WINDOW_MS) samples.shift();
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  if (now - first.at >= LEAST_MS && (last !== first || now - first.at >= WINDOW_MS)) {
    return ((last.done - first.done) / (now - first.at)) * 1000;
  }
  if (startedAt === null || last.done === 0) return undefined;
  return (last.done / Math.max(now - Date.parse(startedAt), LEAST_MS)) * 1000;
}
