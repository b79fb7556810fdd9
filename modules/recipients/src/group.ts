import { getCampaign } from '@postroom/campaigns';
import { createGroup } from '@postroom/groups';
import { DomainError, invalid, pool, runCostly, checkDisplayName } from '@postroom/platform';
import { checkLink, type RecipientFilter, recipientsSql } from './filter.ts';

/** Maximum number of members of a group created from recipients. */
const MAX_GROUPED = 100_000;

/**
 * Creates a group from the recipients of a campaign that pass a filter and still exist as contacts. The group does not change when
 * further recipients come to pass the filter.
 * @returns the id of the group.
 * @throws DomainError `not_found`; `validation_error` for a filter that no recipient or more than `MAX_GROUPED` pass; `conflict`
 * if the name is taken or the recipients have been deleted.
 */
export async function groupRecipients(
  projectId: string,
  campaignId: string,
  { name, filter }: { name: string; filter: RecipientFilter },
): Promise<string> {
  const { recipientsDeletedAt } = await getCampaign(projectId, campaignId);
  checkDisplayName(name);
  await checkLink(campaignId, filter);
  if (recipientsDeletedAt !== null)
    throw new DomainError(
      'conflict',
      'The recipients of this campaign have been deleted after their retention period.',
    );
  const { from, parameters } = recipientsSql(campaignId, filter);
  const text = `SELECT m.contact_id AS id ${from} ORDER BY m.id LIMIT ${parameters.add(MAX_GROUPED + 1)}`;
  const { rows } = await runCostly(projectId, () => pool.query<{ id: string }>(text, parameters.values));
  if (rows.length === 0) throw invalid({ field: 'filter', message: 'matches no recipient: a group is never empty' });
  if (rows.length > MAX_GROUPED)
    throw invalid({ field: 'filter', message: `matches more than ${MAX_GROUPED.toLocaleString('en')} recipients` });
  return (await createGroup(projectId, { name, contactIds: rows.map(({ id }) => id) })).id;
}
