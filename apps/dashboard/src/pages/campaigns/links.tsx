import { Text } from '@mantine/core';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { Section } from '../../components/page.tsx';
import { DataTable } from '../../components/table.tsx';
import { number } from './campaign-labels.ts';

const LINKS = graphql(`
  query CampaignLinks($id: ID!) {
    campaignLinks(id: $id) {
      position
      url
      clicks
      uniqueClicks
      clicksByMachines
    }
  }
`);

/** Clicks by link; hidden if clicks are not tracked. */
export function Links({ campaignId }: { campaignId: string }) {
  const links = useApiQuery(LINKS, { id: campaignId }).data?.campaignLinks ?? [];
  if (links.length === 0) return null;
  return (
    <Section title="Links" about="Human clicks and bot clicks, such as security scanners, are counted separately.">
      <DataTable
        label="Links"
        rows={links}
        keyOf={({ position }) => String(position)}
        columns={[
          {
            title: 'URL',
            cell: ({ url }) => (
              <Text size="sm" className="breakable" lineClamp={2} title={url}>
                {url}
              </Text>
            ),
          },
          { title: 'People', align: 'right', width: 90, cell: ({ uniqueClicks }) => number(uniqueClicks) },
          { title: 'Clicks', from: 'sm', align: 'right', width: 90, cell: ({ clicks }) => number(clicks) },
          {
            title: 'Bots',
            from: 'sm',
            align: 'right',
            width: 100,
            cell: ({ clicksByMachines }) => number(clicksByMachines),
          },
        ]}
      />
    </Section>
  );
}
