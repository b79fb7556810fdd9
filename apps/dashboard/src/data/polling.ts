import { useEffect } from 'react';

const EVERY_MS = 5_000;

/** Repeats a query every five seconds while its page is visible, for data that no subscription announces. */
export function usePolling(again: () => void, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') again();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [again, isOn]);
}
