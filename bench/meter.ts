import { setTimeout as sleep } from 'node:timers/promises';
import { type Cpu, SpeedProbe } from '@postroom/capacity';
import type { Pool } from 'pg';
import { cpuBelow, cpuMs } from './processes.ts';

/** What the programs used while something ran. */
export interface Usage {
  seconds: number;
  /** Of a core meanwhile, relative to a standard core. */
  speed: number;
  /** CPU time in microseconds of a standard core. */
  cpuUs: Cpu;
  walBytes: number;
  /** Pages of tables and indexes that PostgreSQL wrote, and flushes of its log. */
  writes: number;
  /** Temporal actions. */
  actions: number;
  /** Growth of each table with its indexes, in bytes; of a partitioned one, of all partitions. */
  bytes: Record<string, number>;
}

const SAMPLE_MS = 100;
/** What follows from a warm-up has ended by then, such as the workflow that drains a queue. */
const SETTLE_MS = 3_000;
/** The time in which PostgreSQL's processes and Temporal report their figures. */
const REPORT_MS = 1_500;

/** Measures what the programs of bench/sending.ts use. */
export class Meter {
  readonly #pool: Pool;
  readonly #programs: { gateway: number; worker: number; temporalMetrics: string };
  readonly #probe = new SpeedProbe();

  constructor(pool: Pool, programs: { gateway: number; worker: number; temporalMetrics: string }) {
    this.#pool = pool;
    this.#programs = programs;
  }

  /**
   * What `work` uses. Pages that it changed are written before it is read. PostgreSQL logs the whole of a page when it is
   * first changed after a checkpoint; `warmUp` changes those that all work changes, which happens once in minutes otherwise.
   */
  async measure(work: () => Promise<unknown>, warmUp: () => Promise<unknown> = async () => {}): Promise<Usage> {
    await this.#pool.query('CHECKPOINT');
    await warmUp();
    await sleep(SETTLE_MS);
    const before = await this.#read();
    const sampling = setInterval(() => this.#probe.sample(), SAMPLE_MS);
    try {
      await work();
      await sleep(REPORT_MS);
    } finally {
      clearInterval(sampling);
    }
    await this.#pool.query('CHECKPOINT');
    const after = await this.#read();
    const speed = this.#probe.take();
    const us = (program: keyof Cpu) => (after.cpuMs[program] - before.cpuMs[program]) * 1000 * speed;
    return {
      seconds: (after.at - before.at) / 1000,
      speed,
      cpuUs: { gateway: us('gateway'), worker: us('worker'), postgres: us('postgres'), temporal: us('temporal') },
      walBytes: after.walBytes - before.walBytes,
      writes: after.writes - before.writes,
      actions: after.actions - before.actions,
      bytes: Object.fromEntries(
        Object.entries(after.bytes)
          .map(([table, bytes]) => [table, bytes - (before.bytes[table] ?? 0)] as const)
          .filter(([, bytes]) => bytes > 0),
      ),
    };
  }

  async #read() {
    const { rows } = await this.#pool.query<{ wal: number; writes: number }>(
      `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float AS wal,
         (SELECT sum(CASE object WHEN 'wal' THEN fsyncs ELSE write_bytes / 8192 END)::float FROM pg_stat_io) AS writes`,
    );
    const tables = await this.#pool.query<{ name: string; bytes: number }>(
      `SELECT coalesce(pg_partition_root(oid), oid)::regclass::text AS name, sum(pg_total_relation_size(oid))::float AS bytes
       FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace GROUP BY 1`,
    );
    return {
      at: performance.now(),
      cpuMs: {
        gateway: cpuMs(this.#programs.gateway),
        worker: cpuMs(this.#programs.worker),
        postgres: cpuBelow('postgres'),
        temporal: cpuBelow('temporal'),
      },
      walBytes: rows[0]?.wal ?? 0,
      writes: rows[0]?.writes ?? 0,
      actions: await countActions(this.#programs.temporalMetrics),
      bytes: Object.fromEntries(tables.rows.map(({ name, bytes }) => [name, bytes])),
    };
  }
}

/** The actions of all namespaces but Temporal's own, as it bills them in its cloud. */
async function countActions(metrics: string): Promise<number> {
  const text = await (await fetch(metrics)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith('action{') && !line.includes('namespace="temporal_system"'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
