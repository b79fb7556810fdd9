import { type CostPoint, type Costs, type Cpu, type Operation, type Program, PROGRAMS } from './operations.ts';
import { SETTINGS } from './parameters.ts';

/** Operations per second. */
export type Rates = Record<Operation, number>;

/** What an installation uses per second. */
export interface Demand {
  /** Standard cores. */
  cpu: Cpu;
  walBytes: number;
  /** Disk writes of PostgreSQL: pages of tables and indexes, and WAL flushes. */
  writes: number;
  actions: number;
  /** Bytes that each table grows by. */
  bytes: Record<string, number>;
}

/** The usage at a rate, or the maximum up to it: busier programs share more work, so a lower rate may need more than a higher one. */
type Extent = 'at' | 'up to';

export interface Conditions {
  /** Default: `at`. */
  extent?: Extent;
  /** The seconds between checkpoints of PostgreSQL. Default: that of the setting `checkpointMinutes`. */
  checkpointSeconds?: number;
}

const CHECKPOINT_SECONDS = SETTINGS.checkpointMinutes.default * 60;

/**
 * The usage of `amount` operations, by rate or by count, interpolated linearly between the measured points. Below the first and above
 * the last point, each operation costs as much as there.
 */
function interpolate(
  points: readonly CostPoint[],
  costOf: (point: CostPoint) => number,
  { amount, by, extent }: { amount: number; by: 'rate' | 'count'; extent: Extent },
): number {
  let below = { amount: 0, usage: 0, cost: 0 };
  let maximum = 0;
  for (const point of points.toSorted((a, b) => a[by] - b[by])) {
    const cost = costOf(point);
    const usage = point[by] * cost;
    if (amount <= point[by]) {
      const share = (amount - below.amount) / (point[by] - below.amount);
      return Math.max(maximum, below.usage + share * (usage - below.usage));
    }
    if (extent === 'up to') maximum = Math.max(maximum, usage);
    below = { amount: point[by], usage, cost };
  }
  return Math.max(maximum, amount * below.cost);
}

const US_PER_S = 1_000_000;

/** The demand of one operation alone. */
function demandOfOperation(rate: number, operation: Operation, costs: Costs, conditions: Conditions): Demand {
  const { extent = 'at', checkpointSeconds = CHECKPOINT_SECONDS } = conditions;
  const { points, bytes } = costs.operations[operation];
  // Operations share wake-ups, statements and pages with others, as with more of the same kind.
  const { factor } = costs.sharing;
  const byRate = (costOf: (point: CostPoint) => number) =>
    interpolate(points, costOf, { amount: rate * factor, by: 'rate', extent }) / factor;
  // Between two checkpoints, a page is written once and logged in full once, however often it changes. So the more operations there
  // are between checkpoints, the less each one writes, at any rate.
  const byCount = (costOf: (point: CostPoint) => number) =>
    interpolate(points, costOf, { amount: rate * checkpointSeconds, by: 'count', extent }) / checkpointSeconds;
  return {
    cpu: byProgram((program) => byRate(({ cpuUs }) => cpuUs[program]) / US_PER_S),
    walBytes: byCount((point) => point.walBytes),
    writes: byCount((point) => point.pages) + byRate((point) => point.flushes),
    actions: byRate((point) => point.actions),
    bytes: Object.fromEntries(Object.entries(bytes).map(([table, each]) => [table, each * rate])),
  };
}

/** The demand of all operations together, and of the idle programs. */
export function demandOf(rates: Rates, costs: Costs, conditions: Conditions = {}): Demand {
  const parts = demandParts(rates, costs, conditions);
  const bytes: Record<string, number> = {};
  for (const part of Object.values(parts))
    for (const [table, grown] of Object.entries(part.bytes)) bytes[table] = (bytes[table] ?? 0) + grown;
  const sum = (of: (part: Demand) => number) => Object.values(parts).reduce((total, part) => total + of(part), 0);
  return {
    cpu: byProgram((program) => sum(({ cpu }) => cpu[program])),
    walBytes: sum((part) => part.walBytes),
    writes: sum((part) => part.writes),
    actions: sum((part) => part.actions),
    bytes,
  };
}

/** The demand of each operation, and of the idle programs. */
export function demandParts(
  rates: Rates,
  costs: Costs,
  conditions: Conditions = {},
): Record<Operation | 'idle', Demand> {
  const { cpuUs, walBytes, pages, flushes, actions } = costs.idle;
  const cpu = byProgram((program) => cpuUs[program] / US_PER_S);
  const idle = { cpu, walBytes, writes: pages + flushes, actions, bytes: {} };
  const entries = (Object.entries(rates) as [Operation, number][]).map(
    ([operation, rate]) => [operation, demandOfOperation(rate, operation, costs, conditions)] as const,
  );
  return { ...(Object.fromEntries(entries) as Record<Operation, Demand>), idle };
}

function byProgram(of: (program: Program) => number): Cpu {
  return Object.fromEntries(PROGRAMS.map((program) => [program, of(program)])) as Cpu;
}
