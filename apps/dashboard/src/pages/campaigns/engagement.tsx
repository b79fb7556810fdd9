import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { RecipientOutcome } from '../../generated/graphql.ts';
import { CountChange, RateChange, rateOf } from '../../components/change.tsx';
import { Stat, Stats } from '../../components/stats.tsx';
import { BOUNCE_WARNING, COMPLAINTS_GMAIL, isAbove } from '../../components/thresholds.ts';
import type { CampaignRow } from './campaign.tsx';
import { number, ofReached, percent, reachOf } from './campaign-labels.ts';
import { PeopleLink } from './people-link.tsx';
import { OUTCOME_WORDS } from './recipient-labels.ts';

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

type Counted = 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'unsubscribed';

/** Figures of a campaign compared with the one before. Each opens the list of people behind it. */
export function Engagement({ campaign }: { campaign: CampaignRow }) {
  const { id, engagement, trackOpens, trackClicks } = campaign;
  const { sent, delivered, opened, openedByMachines, clicked, clickedByMachines, bounced, complained, unsubscribed } =
    engagement;
  const previous = useApiQuery(PREVIOUS, { id }).data?.previousCampaign;
  const reach = reachOf(engagement);
  const people = (outcome: RecipientOutcome, count: number) => (
    <PeopleLink campaign={campaign} search={{ outcome }} label={OUTCOME_WORDS[outcome].word} count={count} />
  );
  const bots = (outcome: RecipientOutcome, count: number, share: ReactNode) =>
    count === 0 ? (
      share
    ) : (
      <>
        {share};{' '}
        <PeopleLink
          campaign={campaign}
          search={{ outcome }}
          label={OUTCOME_WORDS[outcome].word}
          count={count}
          words="by bots"
        />
      </>
    );
  /** Compares rates of the same base: a campaign without delivery reports has none of delivered messages. */
  const change = (name: Counted, better: 'more' | 'less') => {
    if (previous == null) return undefined;
    const before = reachOf(previous.engagement);
    const ofSent = name === 'delivered' || name === 'bounced';
    if (!ofSent && before.word !== reach.word) return undefined;
    return (
      <RateChange
        now={rateOf(engagement[name], ofSent ? sent : reach.count)}
        before={rateOf(previous.engagement[name], ofSent ? previous.engagement.sent : before.count)}
        than={previous.name}
        better={better}
      />
    );
  };
  return (
    <Stats
      label="Engagement"
      about={
        previous == null ? undefined : (
          <Text size="sm" c="dimmed">
            Changes are from the campaign before, {previous.name}.
          </Text>
        )
      }
    >
      {reach.word === 'accepted' ? (
        <Stat
          label="Accepted"
          value={<PeopleLink campaign={campaign} search={{ state: 'accepted' }} label="Accepted" count={sent} />}
          detail="delivery not reported"
          change={
            previous != null && (
              <CountChange now={sent} before={previous.engagement.sent} than={previous.name} better="more" />
            )
          }
        />
      ) : (
        <Stat
          label="Delivered"
          value={people('delivered', delivered)}
          detail={`${percent(delivered, sent)} of ${number(sent)} sent`}
          change={change('delivered', 'more')}
        />
      )}
      {trackOpens === false ? (
        <Stat label="Opened" value="–" detail="not tracked" />
      ) : (
        <Stat
          label="Opened"
          value={people('opened', opened)}
          detail={bots('opened_by_machines', openedByMachines, ofReached(opened, reach))}
          change={change('opened', 'more')}
        />
      )}
      {trackClicks === false ? (
        <Stat label="Clicked" value="–" detail="not tracked" />
      ) : (
        <Stat
          label="Clicked"
          value={people('clicked', clicked)}
          detail={bots('clicked_by_machines', clickedByMachines, ofReached(clicked, reach))}
          change={change('clicked', 'more')}
        />
      )}
      <Stat
        label="Bounced"
        value={people('bounced', bounced)}
        detail={`${percent(bounced, sent)} of sent`}
        tone={isAbove(bounced, sent, BOUNCE_WARNING)}
        change={change('bounced', 'less')}
      />
      <Stat
        label="Complained"
        value={people('complained', complained)}
        detail={ofReached(complained, reach)}
        tone={isAbove(complained, reach.count, COMPLAINTS_GMAIL)}
        change={change('complained', 'less')}
      />
      <Stat
        label="Unsubscribed"
        value={people('unsubscribed', unsubscribed)}
        detail={ofReached(unsubscribed, reach)}
        change={change('unsubscribed', 'less')}
      />
    </Stats>
  );
}
