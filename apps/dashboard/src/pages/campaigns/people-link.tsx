import { useProject } from '../../app/session.tsx';
import { TextLink } from '../../components/link.tsx';
import { number } from './campaign-labels.ts';
import type { RecipientSearch } from './recipient-search.ts';

/** A figure of a campaign that opens the list of people behind it; plain text if there is nobody, or the list was deleted. */
export function PeopleLink({
  campaign: { id: campaignId, recipientsDeletedAt },
  search,
  label,
  count,
  words,
}: {
  campaign: { id: string; recipientsDeletedAt: string | null };
  search: RecipientSearch;
  /** What the people did or what happened to them, such as "Opened". */
  label: string;
  count: number;
  /** Text after the number, such as "by bots". */
  words?: string | undefined;
}) {
  const { id: projectId } = useProject();
  const text = words === undefined ? number(count) : `${number(count)} ${words}`;
  if (count === 0 || recipientsDeletedAt !== null) return <>{text}</>;
  return (
    <TextLink
      to="/p/$projectId/campaigns/$campaignId/recipients"
      params={{ projectId, campaignId }}
      search={search}
      className="above figure-link"
      aria-label={`${label}: ${text}`}
      inherit
    >
      {text}
    </TextLink>
  );
}
