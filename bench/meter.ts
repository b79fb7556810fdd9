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
  /** Pages of tables and indexes that PostgreSQL wrote, without those that were dirty at the start. */
  pages: number;
  /** WAL flushes of PostgreSQL. */
  flushes: number;
  /** Temporal actions. */
  actions: number;
  /** Growth of each table with its indexes in bytes, without free space. Partitions count as one table. */
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
    await this.#pool.query(
      'CREATE EXTENSION IF NOT EXISTS pg_freespacemap; CREATE EXTENSION IF NOT EXISTS pg_buffercache',
    );
    await this.#pool.query('CHECKPOINT');
    await warmUp();
    await sleep(SETTLE_MS);
    const sizesBefore = await this.#sizes();
    const before = await this.#read();
    const sampling = setInterval(() => this.#probe.sample(), SAMPLE_MS);
    try {
      await work();
      await sleep(REPORT_MS);
    } finally {
      clearInterval(sampling);
    }
    await this.#pool.query('CHECKPOINT');
    await sleep(REPORT_MS);
    const after = await this.#read();
    const sizesAfter = await this.#sizes();
    const speed = this.#probe.take();
    const us = (program: keyof Cpu) => (after.cpuMs[program] - before.cpuMs[program]) * 1000 * speed;
    return {
      seconds: (after.at - before.at) / 1000,
      speed,
      cpuUs: { gateway: us('gateway'), worker: us('worker'), postgres: us('postgres'), temporal: us('temporal') },
      walBytes: after.walBytes - before.walBytes,
      pages: after.pages - before.pages - before.dirty,
      flushes: after.flushes - before.flushes,
      actions: after.actions - before.actions,
      bytes: Object.fromEntries(
        [...sizesAfter]
          .map(([table, bytes]) => [table, bytes - (sizesBefore.get(table) ?? 0)] as const)
          .filter(([, bytes]) => bytes > 0),
      ),
    };
  }

  async #read() {
    const { rows } = await this.#pool.query<{ wal: number; pages: number; dirty: number; flushes: number }>(
      `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float AS wal,
         sum(write_bytes / 8192) FILTER (WHERE object <> 'wal')::float AS pages,
         (SELECT buffers_dirty FROM pg_buffercache_summary()) AS dirty,
         sum(fsyncs) FILTER (WHERE object = 'wal')::float AS flushes
       FROM pg_stat_io`,
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
      pages: rows[0]?.pages ?? 0,
      dirty: rows[0]?.dirty ?? 0,
      flushes: rows[0]?.flushes ?? 0,
      actions: await countActions(this.#programs.temporalMetrics),
    };
  }

  /**
   * The bytes in use of each table with its indexes and TOAST, after a VACUUM. File sizes would depend on what ran before: files don't
   * shrink, and later rows use the space of deleted and updated ones.
   */
  async #sizes(): Promise<Map<string, number>> {
    await this.#pool.query('VACUUM');
    const { rows } = await this.#pool.query<{ name: string; bytes: number }>(
      `WITH relations AS (
         SELECT c.oid, c.oid AS owner FROM pg_class c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
         UNION ALL
         SELECT t.reltoastrelid, t.oid FROM pg_class t WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltoastrelid <> 0
       ), files AS (
         SELECT oid, owner FROM relations UNION ALL SELECT indexrelid, owner FROM pg_index JOIN relations ON indrelid = oid
       )
       SELECT coalesce(pg_partition_root(owner), owner)::regclass::text AS name,
         sum(pg_relation_size(oid) - (SELECT coalesce(sum(avail), 0) FROM pg_freespace(oid)))::float AS bytes
       FROM files GROUP BY 1`,
    );
    return new Map(rows.map(({ name, bytes }) => [name, bytes]));
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
