import { readdirSync, readFileSync } from 'node:fs';

/** A hundredth of a second: the unit of the times in /proc. */
const TICK_MS = 10;

interface Stat {
  pid: number;
  name: string;
  parent: number;
  /** Its own CPU time in milliseconds. */
  ownMs: number;
  /** CPU time of children that have exited and been reaped, in milliseconds. */
  endedMs: number;
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? [];
    const fields = rest.split(' ').map(Number);
    const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map(
      (at) => fields[at],
    );
    return { pid, name, parent, ownMs: (user + system) * TICK_MS, endedMs: (endedUser + endedSystem) * TICK_MS };
  } catch {
    return undefined; // it has exited, or the system has no /proc
  }
}

/** CPU time that a process and its children have used, in milliseconds: the gateway and the worker render in child processes. */
export function cpuMs(pid: number): number {
  let sum = readStat(pid)?.endedMs ?? 0;
  for (const stat of descendants()) if (stat.pid === pid || stat.parent === pid) sum += stat.ownMs;
  return sum;
}

/** CPU time of all descendants of this process with this program name, and of their children, in milliseconds. */
export function cpuBelow(program: string): number {
  let sum = 0;
  for (const stat of descendants()) if (stat.name === program) sum += stat.ownMs + stat.endedMs;
  return sum;
}

function descendants(): Stat[] {
  const stats = new Map<number, Stat>();
  for (const entry of listProc()) {
    const stat = readStat(entry);
    if (stat !== undefined) stats.set(entry, stat);
  }
  return [...stats.values()].filter(({ pid }) => pid !== process.pid && isBelowUs(pid, stats));
}

function listProc(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function isBelowUs(pid: number, stats: ReadonlyMap<number, Stat>): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = stats.get(at)?.parent)
    if (at === process.pid) return true;
  return false;
}

/** Current and peak memory of a process in MB; 0 where the system does not report it. */
export function memoryMb(pid: number): { now: number; peak: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const kb = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    return { now: Math.round(kb('VmRSS') / 1024), peak: Math.round(kb('VmHWM') / 1024) };
  } catch {
    return { now: 0, peak: 0 };
  }
}

/** CPU time by state since boot, summed over all cores, in milliseconds; all 0 where the system does not report it. */
export function machineMs(): { busy: number; idle: number; stolen: number } {
  try {
    const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, stolen = 0] = readFileSync(
      '/proc/stat',
      'latin1',
    )
      .split('\n', 1)[0]!
      .split(/\s+/)
      .slice(1)
      .map((ticks) => Number(ticks) * TICK_MS);
    return { busy: user + nice + system + irq + softirq, idle: idle + waiting, stolen };
  } catch {
    return { busy: 0, idle: 0, stolen: 0 };
  }
}
