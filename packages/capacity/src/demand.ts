import { type CostPoint, type Costs, type Cpu, type Operation, type Program, PROGRAMS } from './operations.ts';

/** Operations per second. */
export type Rates = Record<Operation, number>;

/** What an installation uses per second. */
export interface Demand {
  /** Standard cores. */
  cpu: Cpu;
  walBytes: number;
  writes: number;
  actions: number;
  /** Bytes that each table grows by. */
  bytes: Record<string, number>;
}

/** At a rate, or the most at any rate up to it: busier programs share more, so a lower rate may use more than a higher one. */
export type Extent = 'at' | 'up to';

/**
 * Use per second at a rate, on the line through the measured points. Before the first and after the last point each operation costs
 * what it did there.
 */
function useAt(
  rate: number,
  extent: Extent,
  points: readonly CostPoint[],
  costOf: (point: CostPoint) => number,
): number {
  let below = { rate: 0, use: 0, each: 0 };
  let most = 0;
  for (const point of points) {
    const each = costOf(point);
    const use = point.rate * each;
    if (rate <= point.rate) {
      const line = below.use + ((rate - below.rate) / (point.rate - below.rate)) * (use - below.use);
      return Math.max(most, line);
    }
    if (extent === 'up to') most = Math.max(most, use);
    below = { rate: point.rate, use, each };
  }
  return Math.max(most, rate * below.each);
}

const US_PER_S = 1_000_000;

/** The use of one operation alone. */
function demandOfOperation(rate: number, operation: Operation, costs: Costs, extent: Extent): Demand {
  const { points, bytes } = costs.operations[operation];
  // Operations share wake-ups, statements and pages with others, as with more of the same kind.
  const { factor } = costs.sharing;
  const use = (costOf: (point: CostPoint) => number) => useAt(rate * factor, extent, points, costOf) / factor;
  return {
    cpu: byProgram((program) => use(({ cpuUs }) => cpuUs[program]) / US_PER_S),
    // Bytes and pages are those of the row. A short measurement at a low rate has more of them, because PostgreSQL logs the whole of a
    // page when it is first changed after a checkpoint, which production has every few minutes.
    walBytes: rate * (points.at(-1)?.walBytes ?? 0),
    writes: rate * (points.at(-1)?.writes ?? 0),
    actions: use((point) => point.actions),
    bytes: Object.fromEntries(Object.entries(bytes).map(([table, each]) => [table, each * rate])),
  };
}

/** The use of all operations together, and of the idle programs. */
export function demandOf(rates: Rates, costs: Costs, extent: Extent = 'at'): Demand {
  const parts = demandParts(rates, costs, extent);
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
export function demandParts(rates: Rates, costs: Costs, extent: Extent = 'at'): Record<Operation | 'idle', Demand> {
  const { cpuUs, walBytes, writes, actions } = costs.idle;
  const idle = { cpu: byProgram((program) => cpuUs[program] / US_PER_S), walBytes, writes, actions, bytes: {} };
  const entries = (Object.entries(rates) as [Operation, number][]).map(
    ([operation, rate]) => [operation, demandOfOperation(rate, operation, costs, extent)] as const,
  );
  return { ...(Object.fromEntries(entries) as Record<Operation, Demand>), idle };
}

function byProgram(of: (program: Program) => number): Cpu {
  return Object.fromEntries(PROGRAMS.map((program) => [program, of(program)])) as Cpu;
}
