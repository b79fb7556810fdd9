import { vi } from 'vitest';

const original = <Method>(of: object, name: string): Method =>
  Object.getOwnPropertyDescriptor(of, name)?.value as Method;

/** How many characters the engine's searches scanned while something ran. */
export function charactersScanned(run: () => unknown): number {
  let scanned = 0;
  const indexOf = original<(this: string, what: string, from?: number) => number>(String.prototype, 'indexOf');
  const exec = original<(this: RegExp, text: string) => RegExpExecArray | null>(RegExp.prototype, 'exec');
  const indexOfSpy = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (this: string, what, from = 0) {
    const found = indexOf.call(this, what, from);
    scanned += (found === -1 ? this.length : found) - from;
    return found;
  });
  const execSpy = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text) {
    const from = this.lastIndex;
    const found = exec.call(this, text);
    scanned += (found === null ? text.length : found.index) - from;
    return found;
  });
  try {
    run();
  } finally {
    indexOfSpy.mockRestore();
    execSpy.mockRestore();
  }
  return scanned;
}
