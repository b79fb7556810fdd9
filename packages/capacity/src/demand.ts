import { type CostPoint, type Costs, type Cpu, type Operation, type Program, PROGRAMS } from './operations.ts';
import { SETTINGS } from './parameters.ts';

/** Operations per second. */
export type Rates = Record<Operation, number>;

/** What an installation uses per second. */
export interface Demand {
  /** Standard cores. */
  cpu: Cpu;
  walBytes: number;
  /** Writes to disk by PostgreSQL: pages of tables and indexes, and flushes of its log. */
  writes: number;
  actions: number;
  /** Bytes that each table grows by. */
  bytes: Record<string, number>;
}

/** At a rate, or the most at any rate up to it: busier programs share more, so a lower rate may use more than a higher one. */
type Extent = 'at' | 'up to';

export interface Conditions {
  /** Default: at. */
  extent?: Extent;
  /** From one checkpoint of PostgreSQL to the next. Default: as that of the settings. */
  checkpointSeconds?: number;
}

const CHECKPOINT_SECONDS = SETTINGS.checkpointMinutes.default * 60;

/**
 * Use by `amount` of an operation, which is a rate or a count, on the line through the measured points. Before the first and after the
 * last point each operation costs what it did there.
 */
function useOf(
  amount: number,
  by: 'rate' | 'count',
  extent: Extent,
  points: readonly CostPoint[],
  costOf: (point: CostPoint) => number,
): number {
  let below = { amount: 0, use: 0, each: 0 };
  let most = 0;
  for (const point of points.toSorted((a, b) => a[by] - b[by])) {
    const each = costOf(point);
    const use = point[by] * each;
    if (amount <= point[by]) {
      const line = below.use + ((amount - below.amount) / (point[by] - below.amount)) * (use - below.use);
      return Math.max(most, line);
    }
    if (extent === 'up to') most = Math.max(most, use);
    below = { amount: point[by], use, each };
  }
  return Math.max(most, amount * below.each);
}

const US_PER_S = 1_000_000;

/** The use of one operation alone. */
function demandOfOperation(rate: number, operation: Operation, costs: Costs, conditions: Conditions): Demand {
  const { extent = 'at', checkpointSeconds = CHECKPOINT_SECONDS } = conditions;
  const { points, bytes } = costs.operations[operation];
  // Operations share wake-ups, statements and pages with others, as with more of the same kind.
  const { factor } = costs.sharing;
  const use = (costOf: (point: CostPoint) => number) => useOf(rate * factor, 'rate', extent, points, costOf) / factor;
  // A page that changes several times between two checkpoints is written once, and logged as a whole once. So the more operations
  // there are between them, the less each one writes, at any rate.
  const count = rate * checkpointSeconds;
  const useOfCount = (costOf: (point: CostPoint) => number) =>
    useOf(count, 'count', extent, points, costOf) / checkpointSeconds;
  return {
    cpu: byProgram((program) => use(({ cpuUs }) => cpuUs[program]) / US_PER_S),
    walBytes: useOfCount((point) => point.walBytes),
    writes: useOfCount((point) => point.pages) + use((point) => point.flushes),
    actions: use((point) => point.actions),
    bytes: Object.fromEntries(Object.entries(bytes).map(([table, each]) => [table, each * rate])),
  };
}

/** The use of all operations together, and of the idle programs. */
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

/** The use of each operation, and of the idle programs. */
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
