import type { StatisticsStep } from '../../generated/graphql.ts';

const FORMATS: Record<StatisticsStep, Intl.DateTimeFormat> = {
  hour: new Intl.DateTimeFormat(undefined, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  }),
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' }),
};

const AXIS_FORMATS: Record<StatisticsStep, Intl.DateTimeFormat> = {
  hour: new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }),
};

/** The hour or day of a point; no two in a period are the same. */
export const formatPoint = (at: string, step: StatisticsStep) => FORMATS[step].format(new Date(at));

/** The same for the axis of a chart, where there is little room. */
export const formatTick = (at: string, step: StatisticsStep) => AXIS_FORMATS[step].format(new Date(at));
