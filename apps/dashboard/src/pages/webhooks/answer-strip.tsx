import './answer-strip.css';
import { countOf } from '../../components/numbers.ts';
import { formatDayAndTime } from '../../components/when.tsx';

/** Attempts in one hour. */
export interface AnswerHour {
  /** The start of the hour. */
  at: string;
  acknowledged: number;
  failed: number;
}

/** A bar for each hour, as high as its attempts, with the failed ones on top. */
export function AnswerStrip({ hours, height }: { hours: readonly AnswerHour[]; height: number }) {
  const most = Math.max(1, ...hours.map(({ acknowledged, failed }) => acknowledged + failed));
  const total = (name: 'acknowledged' | 'failed') => hours.reduce((sum, hour) => sum + hour[name], 0);
  const share = (count: number) => `${(count / most) * 100}%`;
  return (
    <div
      className="answer-strip"
      style={{ height }}
      role="img"
      aria-label={`Attempts by hour: ${total('acknowledged').toLocaleString()} acknowledged, ${total('failed').toLocaleString()} failed`}
    >
      {hours.map((hour) => (
        <span key={hour.at} title={wordsOf(hour)}>
          <span className="answer-failed" style={{ height: share(hour.failed) }} />
          <span className="answer-acknowledged" style={{ height: share(hour.acknowledged) }} />
        </span>
      ))}
    </div>
  );
}

const wordsOf = ({ at, acknowledged, failed }: AnswerHour) =>
  `${formatDayAndTime(at)}: ${acknowledged + failed === 0 ? 'no attempts' : `${countOf(acknowledged, 'attempt')} acknowledged, ${failed.toLocaleString()} failed`}`;
