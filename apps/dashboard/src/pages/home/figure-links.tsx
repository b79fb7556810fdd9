import { useProject } from '../../app/session.tsx';
import type { TimeRange } from '../../data/time-range.ts';
import type { EmailOutcome } from '../../generated/graphql.ts';
import { countOf } from '../../components/numbers.ts';
import { TextLink } from '../../components/link.tsx';
import { number } from '../campaigns/campaign-labels.ts';
import { OUTCOMES } from '../emails/email-search.ts';

interface FigureProps {
  /** The period of the figure. */
  range: TimeRange;
  figure: number;
}

/** A figure that opens the list of emails behind it; plain text if there are none. */
export function EmailsLink({
  outcome,
  range,
  figure,
  words,
}: FigureProps & {
  outcome: EmailOutcome;
  /** Text after the number, such as "by bots". */
  words?: string | undefined;
}) {
  const { id: projectId } = useProject();
  const text = words === undefined ? number(figure) : `${number(figure)} ${words}`;
  if (figure === 0) return text;
  return (
    <TextLink
      to="/p/$projectId/emails"
      params={{ projectId }}
      search={{ outcome, ...range }}
      className="figure-link"
      aria-label={`${OUTCOMES[outcome]}: ${text}`}
      inherit
    >
      {text}
    </TextLink>
  );
}

/** The figure of unsubscribed contacts, which opens their suppressions. */
export function UnsubscribedLink({ range, figure }: FigureProps) {
  const { id: projectId } = useProject();
  if (figure === 0) return number(figure);
  return (
    <TextLink
      to="/p/$projectId/suppressions"
      params={{ projectId }}
      search={{ reason: 'unsubscribed', ...range }}
      className="figure-link"
      aria-label={`Unsubscribed: ${number(figure)}`}
      inherit
    >
      {number(figure)}
    </TextLink>
  );
}

/** The figure of contacts added, which opens their list. */
export function AddedLink({ range, figure }: FigureProps) {
  const { id: projectId } = useProject();
  const text = `${countOf(figure, 'contact')} added`;
  if (figure === 0) return text;
  return (
    <TextLink to="/p/$projectId/contacts" params={{ projectId }} search={range} className="figure-link" inherit>
      {text}
    </TextLink>
  );
}
