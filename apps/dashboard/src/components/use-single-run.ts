import { useRef, useState } from 'react';

/** Whether a task is running, and a function that runs one unless another is: a second click does nothing. */
export function useSingleRun(): [running: boolean, run: (task: () => Promise<unknown>) => Promise<void>] {
  const [running, setRunning] = useState(false);
  const isRunning = useRef(false);
  const run = async (task: () => Promise<unknown>) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setRunning(true);
    try {
      await task();
    } finally {
      isRunning.current = false;
      setRunning(false);
    }
  };
  return [running, run];
}
