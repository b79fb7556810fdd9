import { Autocomplete } from '@mantine/core';
import { RecordSelect } from '../../components/record-select.tsx';
import { useCampaignLinks } from '../../data/campaign-links.ts';
import type { Condition } from './segment-tree.ts';

interface MailInputsProps {
  condition: Condition;
  onChange: (condition: Condition) => void;
}

const SOURCES = ['campaigns', 'templates'] as const;

/** Which email a condition is about: of a campaign, one of whose links was clicked, or made from a template. */
export function MailInputs({ condition, onChange }: MailInputsProps) {
  const { field, campaignId, templateId } = condition;
  return (
    <>
      <RecordSelect
        of={SOURCES}
        aria-label="Campaign or template"
        placeholder="any email"
        w={{ base: '100%', xs: 200 }}
        clearable
        value={campaignId ?? templateId}
        onChange={(id) =>
          onChange({
            ...condition,
            campaignId: id?.startsWith('cmp_') ? id : undefined,
            templateId: id?.startsWith('tpl_') ? id : undefined,
            url: undefined,
          })
        }
      />
      {field === 'clicked' && campaignId !== undefined && (
        <LinkInput key={campaignId} campaignId={campaignId} condition={condition} onChange={onChange} />
      )}
    </>
  );
}

function LinkInput({ campaignId, condition, onChange }: MailInputsProps & { campaignId: string }) {
  const links = useCampaignLinks(campaignId) ?? [];
  return (
    <Autocomplete
      size="sm"
      aria-label="Link"
      placeholder="any link"
      w={{ base: '100%', xs: 300 }}
      data={[...new Set(links.map(({ url }) => url))]}
      value={condition.url ?? ''}
      onChange={(url) => onChange({ ...condition, url: url === '' ? undefined : url })}
    />
  );
}
