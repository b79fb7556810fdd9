import { Text } from '@mantine/core';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { RecipientOutcome } from '../../generated/graphql.ts';
import { Stat, Stats } from '../../components/stats.tsx';
import type { CampaignRow } from './campaign-row.ts';
import { formatEngagementRate, reachOf } from './campaign-labels.ts';
import { changeOfCount, changeOfRate, engagementStats } from './engagement-stats.tsx';
import { PeopleLink } from './people-link.tsx';
import { OUTCOME_LABELS } from './recipient-labels.ts';

const PREVIOUS = graphql(`
  query PreviousCampaign($id: ID!) {
    previousCampaign(id: $id) {
      id
      name
      engagement {
        sent
        delivered
        opened
        clicked
        bounced
        complained
        unsubscribed
      }
    }
  }
`);

/** Figures of a campaign compared with the one before. Each opens the list of people behind it. */
export function Engagement({ campaign }: { campaign: CampaignRow }) {
  const { id, engagement, trackOpens, trackClicks } = campaign;
  const { sent, openedByMachines, clickedByMachines, rejected, unsubscribed } = engagement;
  const previous = useApiQuery(PREVIOUS, { id }).data?.previousCampaign;
  const compared = { now: engagement, before: previous?.engagement, than: previous?.name ?? '' };
  const people = (outcome: RecipientOutcome, count: number, words?: string) => (
    <PeopleLink
      campaign={campaign}
      search={{ outcome }}
      label={OUTCOME_LABELS[outcome].label}
      count={count}
      words={words}
    />
  );
  return (
    <Stats
      label="Engagement"
      about={
        previous == null || sent === 0 ? undefined : (
          <Text size="sm" c="dimmed">
            Compared with the previous campaign, {previous.name}.
          </Text>
        )
      }
    >
      {engagementStats({
        ...compared,
        bots: { opened: openedByMachines, clicked: clickedByMachines },
        untracked: { opened: trackOpens === false, clicked: trackClicks === false },
        accepted: {
          value: <PeopleLink campaign={campaign} search={{ state: 'accepted' }} label="Accepted" count={sent} />,
          change: changeOfCount(compared, 'sent', 'more'),
        },
        link: people,
      })}
      {rejected > 0 && <Stat label="Rejected" value={people('rejected', rejected)} tone="warn" />}
      <Stat
        label="Unsubscribed"
        value={people('unsubscribed', unsubscribed)}
        detail={sent === 0 ? undefined : formatEngagementRate(unsubscribed, reachOf(engagement))}
        change={changeOfRate(compared, 'unsubscribed', 'less')}
      />
    </Stats>
  );
}
