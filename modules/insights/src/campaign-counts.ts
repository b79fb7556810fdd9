import { isId, notFound, pool, queryPatiently, runCostly } from '@postroom/platform';

/**
 * The outcomes of a campaign's messages by minute or hour, for its charts. A trigger on messages adds them up in the transactions that
 * record them, so they are exact at any time. They are kept when the messages are deleted.
 */

/** The campaign `$1` unless it is counted already; waits for a count that is under way. See the migration `campaign_counts`. */
const COUNT = 'SELECT count_campaign($1)';

/**
 * Makes sure that a campaign of the project is counted.
 * @returns when it started.
 * @throws DomainError `not_found`.
 */
export async function countedSince(projectId: string, id: string): Promise<Date | null> {
  if (!isId('cmp', id)) throw notFound('campaign');
  const { rows } = await pool.query<{ startedAt: Date | null; isCounted: boolean }>(
    'SELECT started_at AS "startedAt", is_counted AS "isCounted" FROM campaigns WHERE id = $1 AND project_id = $2',
    [id, projectId],
  );
  const [campaign] = rows;
  if (campaign === undefined) throw notFound('campaign');
  const { startedAt, isCounted } = campaign;
  if (startedAt !== null && !isCounted) await runCostly(projectId, () => pool.query(COUNT, [id]));
  return startedAt;
}

/** Counts the campaigns that started before such counts were kept, the newest first. */
export async function countCampaigns(): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT id FROM campaigns WHERE started_at IS NOT NULL AND NOT is_counted ORDER BY id DESC',
  );
  for (const { id } of rows) await queryPatiently(COUNT, [id]);
}
