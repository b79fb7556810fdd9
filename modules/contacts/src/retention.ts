import { deleteOldSizes } from './segment-sizes.ts';

/** Deletes old sizes of segments. @returns their number. */
export async function deleteOld({ onBatch }: { onBatch: () => void }): Promise<Record<string, number>> {
  const segmentSizes = await deleteOldSizes();
  onBatch();
  return { segmentSizes };
}
