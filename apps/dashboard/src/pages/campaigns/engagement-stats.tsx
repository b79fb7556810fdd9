import type { ReactNode } from 'react';
import type { EmailOutcome, RecipientOutcome } from '../../generated/graphql.ts';
import { type Better, CountChange, RateChange, rateOf } from '../../components/change.tsx';
import { Stat } from '../../components/stats.tsx';
import { BOUNCE_WARNING, COMPLAINTS_GMAIL, thresholdTone } from '../../components/thresholds.ts';
import { formatEngagementRate, number, percent, reachOf } from './campaign-labels.ts';

/** What happened to the messages of a campaign or of a period. */
export interface EngagementCounts {
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
}

type Rate = Exclude<keyof EngagementCounts, 'sent'>;

interface Compared {
  now: EngagementCounts;
  /** Undefined if there is nothing to compare with. */
  before: EngagementCounts | undefined;
  /** What it is compared with, such as "the 30 days before". */
  than: string;
}

/** The change of a rate. Rates of delivered and of accepted messages do not compare. */
export function changeOfRate({ now, before, than }: Compared, name: Rate, better: Better): ReactNode {
  if (before === undefined) return null;
  const [reach, reachBefore] = [reachOf(now), reachOf(before)];
  const ofSent = name === 'delivered' || name === 'bounced';
  if (!ofSent && reach.basis !== reachBefore.basis) return null;
  return (
    <RateChange
      now={rateOf(now[name], ofSent ? now.sent : reach.count)}
      before={rateOf(before[name], ofSent ? before.sent : reachBefore.count)}
      than={than}
      better={better}
    />
  );
}

/** The change of a count. */
export const changeOfCount = (
  { now, before, than }: Compared,
  name: keyof EngagementCounts,
  better: Better,
): ReactNode =>
  before === undefined ? null : <CountChange now={now[name]} before={before[name]} than={than} better={better} />;

interface EngagementStatsProps extends Compared {
  /** Counts of bots, apart from those of humans. */
  bots: { opened: number; clicked: number };
  /** What is not tracked. */
  untracked?: { opened: boolean; clicked: boolean };
  /** The accepted messages and their change: shown if their delivery is not reported. */
  accepted: { value: ReactNode; change?: ReactNode };
  /** A count, or a link to those behind it. */
  link: (outcome: EmailOutcome & RecipientOutcome, count: number, words?: string) => ReactNode;
}

/** Delivered, opened, clicked, bounced and complained, each with its rate and how it changed. */
export function engagementStats({ accepted, bots, untracked, link, ...compared }: EngagementStatsProps): ReactNode[] {
  const { now } = compared;
  const { sent, delivered, bounced, complained } = now;
  const reach = reachOf(now);
  /** Of nothing there is no share. */
  const share = (text: string) => (sent === 0 ? undefined : text);
  const ofHumans = (label: string, name: 'opened' | 'clicked') =>
    untracked?.[name] === true ? (
      <Stat key={name} label={label} value="–" detail="not tracked" />
    ) : (
      <Stat
        key={name}
        label={label}
        value={link(name, now[name])}
        detail={
          <>
            {share(formatEngagementRate(now[name], reach))}
            {bots[name] > 0 && <>; {link(`${name}_by_machines`, bots[name], 'by bots')}</>}
          </>
        }
        change={changeOfRate(compared, name, 'more')}
      />
    );
  return [
    reach.basis === 'accepted' ? (
      <Stat key="accepted" label="Accepted" {...accepted} detail="delivery not reported" />
    ) : (
      <Stat
        key="delivered"
        label="Delivered"
        value={link('delivered', delivered)}
        detail={share(`${percent(delivered, sent)} of ${number(sent)} sent`)}
        change={changeOfRate(compared, 'delivered', 'more')}
      />
    ),
    ofHumans('Opened', 'opened'),
    ofHumans('Clicked', 'clicked'),
    <Stat
      key="bounced"
      label="Bounced"
      value={link('bounced', bounced)}
      detail={share(`${percent(bounced, sent)} of sent`)}
      tone={thresholdTone(bounced, sent, BOUNCE_WARNING)}
      change={changeOfRate(compared, 'bounced', 'less')}
    />,
    <Stat
      key="complained"
      label="Complained"
      value={link('complained', complained)}
      detail={share(formatEngagementRate(complained, reach))}
      tone={thresholdTone(complained, reach.count, COMPLAINTS_GMAIL)}
      change={changeOfRate(compared, 'complained', 'less')}
    />,
  ];
}
