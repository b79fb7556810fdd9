import {
  announce,
  db,
  inTransaction,
  isDatabaseBusy,
  isShared,
  paceBulkWork,
  pool,
  runBulkStep,
  Stopwatch,
  DomainError,
} from '@postroom/platform';
import { type Batch, batchesOf, mergeSearchIndexes, writeBatch, writtenBatches } from './batches.ts';
import { UnusableFile } from './file.ts';
import { endImport, type Import, type ImportStatus, isFinal, topicOf, withoutErasedOf } from './imports.ts';
import { FileGone } from './parts.ts';
import { type Plan, planFile, planOf } from './plan.ts';

/**
 * Batches written in parallel, each with its own connection: PostgreSQL is slower per row than we are, and waits for
 * its disk.
 */
const WRITERS = 3;

/** The progress of an import in numbers. */
export interface Progress {
  status: ImportStatus | 'deleted';
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
  /** Duplicates, suppressed addresses and invalid rows. */
  refused: number;
  error: string | null;
}

const GONE: Progress = { status: 'deleted', rows: 0, created: 0, updated: 0, unchanged: 0, refused: 0, error: null };

/** The current progress of an import. */
async function progressOf(importId: string): Promise<Progress> {
  const row = await load(importId);
  if (row === null) return GONE;
  const { status, rows, created, updated, unchanged, duplicates, suppressed, invalid, error } = row;
  return { status, rows, created, updated, unchanged, refused: duplicates + suppressed + invalid, error };
}

const load = (id: string): Promise<Import | null> => db.import.findUnique({ where: { id } });

/** Inspects the file of an import and begins it; skips steps already done. An unusable file fails the import. */
export async function beginImport(importId: string): Promise<Progress> {
  const row = await load(importId);
  if (row?.status === 'queued') {
    await planFile(row).then(
      (plan) => begin(importId, plan),
      (error: unknown) => giveUp(importId, error),
    );
  }
  return progressOf(importId);
}

async function begin(id: string, plan: Plan): Promise<void> {
  await inTransaction(async (tx) => {
    await tx.query(
      `UPDATE imports SET status = 'running', plan = $2, encoding = $3, separator = $4, started_at = now()
        WHERE id = $1 AND status = 'queued'`,
      [id, await withoutErasedOf(tx, id, JSON.stringify(plan)), plan.layout.encoding, plan.layout.separator],
    );
    await announce(tx, topicOf(id));
  });
}

async function giveUp(id: string, error: unknown): Promise<void> {
  // The import was canceled while its file was inspected.
  if (error instanceof FileGone) return;
  if (!(error instanceof UnusableFile)) throw error;
  await inTransaction((tx) => endImport(tx, id, 'failed', error.message));
}

/**
 * Writes the remaining rows of an import and ends it. It reads the whole file, to know the addresses of earlier rows;
 * batches already written are skipped.
 */
export async function continueImport(
  importId: string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void = () => {},
): Promise<Progress> {
  const row = await load(importId);
  const plan = row === null ? null : planOf(row);
  if (row === null || plan === null || isFinal(row.status)) return progressOf(importId);
  const written = await writtenBatches(pool, importId);
  const mode = { isOptimistic: true };
  const write = async (batch: Batch): Promise<boolean> => {
    const worked = new Stopwatch();
    const step = async () => {
      const isWritten = await writeBatch(row, plan, batch, mode);
      // Merging once at the end is faster, but until then other projects' writes of contacts would do it.
      if (isShared(row.projectId)) await mergeSearchIndexes();
      return isWritten;
    };
    const isWritten = await runBulkStep(row.projectId, () => worked.measure(step));
    onProgress(await progressOf(importId));
    await paceBulkWork(row.projectId, worked.take(), signal);
    return isWritten || !(await shouldEnd(importId));
  };
  try {
    const isNeeded = (batch: Batch) => !written.has(batch.number);
    const isWhole = await writeInParallel(row.projectId, batchesOf(row, plan), isNeeded, write, signal);
    signal.throwIfAborted();
    await mergeSearchIndexes();
    await inTransaction((tx) => endImport(tx, importId, isWhole ? 'completed' : 'canceled'));
  } catch (error) {
    // The group to create would exceed the project's limit; a retry would not change that.
    if (error instanceof DomainError) return failImport(importId, error.message);
    // Another worker ended the import; keep its result.
    if (!(error instanceof FileGone)) throw error;
  }
  return progressOf(importId);
}

/** Writes batches in parallel until one returns false or the signal aborts; returns whether all were written. */
async function writeInParallel(
  projectId: string,
  batches: AsyncIterable<Batch>,
  isNeeded: (batch: Batch) => boolean,
  write: (batch: Batch) => Promise<boolean>,
  signal: AbortSignal,
): Promise<boolean> {
  const inFlight = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let shouldContinue = true;
  let isFirst = true; // the first batch shows whether the database is busy
  try {
    for await (const batch of batches) {
      if (signal.aborted || !shouldContinue || failures.length > 0) break;
      if (!isNeeded(batch)) continue;
      const writing = write(batch)
        .then(
          (isWritten) => void (shouldContinue &&= isWritten),
          (error: unknown) => void failures.push(error),
        )
        .finally(() => inFlight.delete(writing));
      inFlight.add(writing);
      while (inFlight.size >= (isFirst || isShared(projectId) || isDatabaseBusy(projectId) ? 1 : WRITERS))
        await Promise.race(inFlight);
      isFirst = false;
    }
  } finally {
    await Promise.all(inFlight);
  }
  if (failures.length > 0) throw failures[0];
  return shouldContinue;
}

async function shouldEnd(id: string): Promise<boolean> {
  const row = await load(id);
  return row === null || isFinal(row.status) || row.cancelRequestedAt !== null;
}

/** Ends an import at an operator's request. */
export async function stopImport(importId: string): Promise<void> {
  await inTransaction((tx) => endImport(tx, importId, 'canceled'));
}

/** Fails an import after repeated errors, with the reason; contacts already written stay. */
export async function failImport(importId: string, reason: string): Promise<Progress> {
  await inTransaction((tx) =>
    endImport(tx, importId, 'failed', `The import could not continue: ${reason}`.slice(0, 500)),
  );
  return progressOf(importId);
}
