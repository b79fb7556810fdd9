import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { deleteIdleRates, deleteIdleSlots, deleteOldAuditEntries } from '@postroom/platform';
import { loadParts } from '@postroom/registry';
import { deleteProjectData } from './move/delete-activity.ts';

/** Retention deletes of the kernel and of the modules that have them. @returns the number of rows by kind. */
async function deleteOldRows(): Promise<Record<string, number>> {
  const onBatch = () => {
    heartbeat();
    cancellationSignal().throwIfAborted();
  };
  const deleted: Record<string, number> = {};
  for (const { deleteOld } of await loadParts('retention')) Object.assign(deleted, await deleteOld({ onBatch }));
  const auditEntries = await deleteOldAuditEntries({ onBatch });
  return { ...deleted, auditEntries, sharedRates: await deleteIdleRates(), sharedSlots: await deleteIdleSlots() };
}

/**
 * Every activity, by its exported name.
 * @throws Error if two modules use a name, because Temporal knows activities only by name.
 */
export async function loadActivities(): Promise<Record<string, (...args: never[]) => unknown>> {
  const parts = [{ deleteOldRows, deleteProjectData }, ...(await loadParts('activities'))];
  const entries = parts.flatMap((part) => Object.entries(part));
  const activities = Object.fromEntries(entries);
  if (entries.length > Object.keys(activities).length) {
    const names = entries.map(([name]) => name);
    throw new Error(`Two modules have an activity ${names.find((name, index) => names.indexOf(name) < index)}.`);
  }
  return activities;
}
