import { Group, Select } from '@mantine/core';
import { SearchBox } from '../../components/search-box.tsx';
import { useCampaignLinks } from '../../data/campaign-links.ts';
import { useShowSearch } from '../../data/show-search.ts';
import { RECIPIENT_LABELS } from './campaign-labels.ts';
import { BOUNCE_LABELS, OUTCOME_LABELS } from './recipient-labels.ts';
import type { RecipientSearch } from './recipient-search.ts';

const choicesOf = (kind: string, words: Record<string, { label: string }>) =>
  Object.entries(words).map(([value, { label }]) => ({ value: `${kind}:${value}`, label }));

const CHOICES = [
  { group: 'Outcome', items: choicesOf('outcome', OUTCOME_LABELS) },
  { group: 'Sending', items: choicesOf('state', RECIPIENT_LABELS) },
];

/** Filters a campaign's recipients by address, outcome or state, and then by link or bounce reason. */
export function RecipientFilters({ campaignId, search }: { campaignId: string; search: RecipientSearch }) {
  const show = useShowSearch();
  const { state, outcome, bounce, link, q } = search;
  const change = (part: Partial<Record<keyof RecipientSearch, string | number | null | undefined>>) => {
    show({ state, outcome, bounce, link, q, ...part });
  };
  const choose = (chosen: string | null) => {
    const [kind = '', value] = chosen?.split(':') ?? [];
    change({ state: null, outcome: null, bounce: null, link: null, [kind]: value });
  };
  const kind = outcome === undefined ? 'state' : 'outcome';
  const value = outcome ?? state;
  return (
    <Group gap="xs">
      <SearchBox value={q ?? ''} label="Part of an address" onSearch={(next) => change({ q: next })} />
      <Select
        aria-label="Outcome"
        placeholder="Any outcome"
        clearable
        searchable
        w={190}
        maxDropdownHeight={320}
        data={CHOICES}
        value={value === undefined ? null : `${kind}:${value}`}
        onChange={choose}
      />
      {outcome === 'bounced' && (
        <Select
          aria-label="Reason"
          placeholder="Any reason"
          clearable
          w={190}
          data={Object.entries(BOUNCE_LABELS).map(([name, { label }]) => ({ value: name, label }))}
          value={bounce ?? null}
          onChange={(next) => change({ bounce: next })}
        />
      )}
      {(outcome === 'clicked' || outcome === 'clicked_by_machines') && (
        <LinkChoice campaignId={campaignId} link={link} onChange={(next) => change({ link: next })} />
      )}
    </Group>
  );
}

function LinkChoice({
  campaignId,
  link,
  onChange,
}: {
  campaignId: string;
  link: number | undefined;
  onChange: (link: number | null) => void;
}) {
  const links = useCampaignLinks(campaignId) ?? [];
  return (
    <Select
      aria-label="Link"
      placeholder="Any link"
      clearable
      searchable
      w={{ base: '100%', sm: 320 }}
      data={links.map(({ position, url }) => ({ value: String(position), label: url }))}
      value={link === undefined ? null : String(link)}
      onChange={(next) => onChange(next === null ? null : Number(next))}
    />
  );
}
