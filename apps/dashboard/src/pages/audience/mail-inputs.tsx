import { Autocomplete, Select } from '@mantine/core';
import { useCampaignLinks } from '../../data/campaign-links.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { SourceNameQuery } from '../../generated/graphql.ts';
import type { Condition } from './segment-tree.ts';

const SOURCE_NAME = graphql(`
  query SourceName($id: ID!) {
    node(id: $id) {
      ... on Campaign {
        name
      }
      ... on Template {
        name
      }
    }
  }
`);

interface Named {
  id: string;
  name: string;
}

interface MailInputsProps {
  condition: Condition;
  campaigns: Named[];
  templates: Named[];
  onChange: (condition: Condition) => void;
}

/** Which email a condition is about: of a campaign, one of whose links was clicked, or made from a template. */
export function MailInputs({ condition, campaigns, templates, onChange }: MailInputsProps) {
  const { field, campaignId } = condition;
  return (
    <>
      <SourceInput condition={condition} campaigns={campaigns} templates={templates} onChange={onChange} />
      {field === 'clicked' && campaignId !== undefined && (
        <LinkInput key={campaignId} campaignId={campaignId} condition={condition} onChange={onChange} />
      )}
    </>
  );
}

/** Undefined for a deleted one. */
const nameOf = (node: SourceNameQuery['node'] | undefined) => (node != null && 'name' in node ? node.name : undefined);

/** Of campaigns, the latest are listed. */
function SourceInput({ condition, campaigns, templates, onChange }: MailInputsProps) {
  const chosen = condition.campaignId ?? condition.templateId ?? null;
  const isKnown = chosen === null || [...campaigns, ...templates].some(({ id }) => id === chosen);
  const { data } = useApiQuery(SOURCE_NAME, { id: chosen ?? '' }, { pause: isKnown });
  const itemsOf = (rows: Named[]) => rows.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Select
      aria-label="Campaign or template"
      placeholder="any email"
      w={{ base: '100%', xs: 200 }}
      clearable
      searchable
      data={[
        { group: 'Campaigns', items: itemsOf(campaigns) },
        { group: 'Templates', items: itemsOf(templates) },
        ...(isKnown ? [] : [{ value: chosen, label: nameOf(data?.node) ?? chosen }]),
      ]}
      value={chosen}
      onChange={(id) =>
        onChange({
          ...condition,
          campaignId: id?.startsWith('cmp_') ? id : undefined,
          templateId: id?.startsWith('tpl_') ? id : undefined,
          url: undefined,
        })
      }
    />
  );
}

function LinkInput({
  campaignId,
  condition,
  onChange,
}: Pick<MailInputsProps, 'condition' | 'onChange'> & { campaignId: string }) {
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
