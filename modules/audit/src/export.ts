import { streamRows } from '@postroom/downloads';
import { refusal, type StreamExchange } from '@postroom/platform';
import { type Entry, entriesSql, type EntryFilter, kindOf } from './entries.ts';
import { actionLabel } from './labels.ts';

const HEADER = ['time', 'actor_id', 'actor', 'action', 'description', 'kind', 'object_id', 'object', 'changes'];

type Row = Pick<Entry, 'actorId' | 'action' | 'targetId' | 'targetName' | 'changes' | 'createdAt'> & {
  actorName: string | null;
};

/**
 * Streams the entries that pass a filter as a CSV file, newest first. `changes` is JSON.
 * @throws DomainError `forbidden` unless the caller manages the project.
 */
export async function streamEntries(exchange: StreamExchange): Promise<undefined> {
  const { caller, projectId, options } = exchange;
  if (!caller.may('manage', projectId)) throw refusal({ caller }, 'manage');
  return streamRows<Row>(exchange, {
    name: `audit-log-${new Date().toISOString().slice(0, 10)}.csv`,
    header: HEADER,
    statement: async () => {
      const { from, values } = entriesSql(projectId, options as EntryFilter);
      const text = `
        SELECT l.*, coalesce(u.name, k.name) AS "actorName"
        FROM (SELECT e.id, e.actor_id AS "actorId", e.action, e.target_id AS "targetId", e.target_name AS "targetName", e.changes,
          e.created_at AS "createdAt" ${from}) l
          LEFT JOIN users u ON u.id = l."actorId" LEFT JOIN api_keys k ON k.id = l."actorId"
        ORDER BY l.id DESC`;
      return { text, values };
    },
    valuesOf: ({ createdAt, actorId, actorName, action, targetId, targetName, changes }) => [
      createdAt.toISOString(),
      actorId,
      actorName ?? '',
      action,
      actionLabel(action),
      kindOf(targetId) ?? '',
      targetId ?? '',
      targetName ?? '',
      changes.length === 0 ? '' : JSON.stringify(changes),
    ],
  });
}
