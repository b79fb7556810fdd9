import { isId, notFound, pool } from '@postroom/platform';

interface CampaignStart {
  startedAt: Date | null;
  /** Number of its messages, which a series of the campaign reads. */
  messages: number;
}

/** When a campaign of the project started. @throws DomainError `not_found`. */
export async function startOf(projectId: string, id: string): Promise<CampaignStart> {
  if (!isId('cmp', id)) throw notFound('campaign');
  const { rows } = await pool.query<CampaignStart>(
    'SELECT started_at AS "startedAt", recipient_count AS messages FROM campaigns WHERE id = $1 AND project_id = $2',
    [id, projectId],
  );
  const [campaign] = rows;
  if (campaign === undefined) throw notFound('campaign');
  return campaign;
}
