import { Text } from '@mantine/core';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { Section } from '../../components/page.tsx';
import { QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { number } from './campaign-labels.ts';
import type { CampaignRow } from './campaign-row.ts';
import { PeopleLink } from './people-link.tsx';

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

/** Clicks by link; hidden if clicks are not tracked. Each row opens the people who clicked. */
export function Links({ campaign }: { campaign: CampaignRow }) {
  const query = useApiQuery(LINKS, { id: campaign.id });
  const links = query.data?.campaignLinks;
  if (links === undefined ? campaign.engagement.clicked === 0 : links.length === 0) return null;
  return (
    <Section title="Links" about="Human clicks and bot clicks, such as security scanners, are counted separately.">
      <QueryResult of={query} skeleton={<RowsSkeleton rows={2} />}>
        {({ campaignLinks }) => (
          <DataTable
            label="Links"
            rows={campaignLinks}
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
              {
                title: 'People',
                align: 'right',
                width: 90,
                cell: ({ position, url, uniqueClicks }) => (
                  <PeopleLink
                    campaign={campaign}
                    search={{ outcome: 'clicked', link: position }}
                    label={`People who clicked ${url}`}
                    count={uniqueClicks}
                  />
                ),
              },
              { title: 'Clicks', from: 'sm', align: 'right', width: 90, cell: ({ clicks }) => number(clicks) },
              {
                title: 'Bots',
                from: 'sm',
                align: 'right',
                width: 100,
                cell: ({ position, url, clicksByMachines }) => (
                  <PeopleLink
                    campaign={campaign}
                    search={{ outcome: 'clicked_by_machines', link: position }}
                    label={`Bots that followed ${url}`}
                    count={clicksByMachines}
                  />
                ),
              },
            ]}
          />
        )}
      </QueryResult>
    </Section>
  );
}
