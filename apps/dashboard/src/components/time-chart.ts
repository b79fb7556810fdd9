import { number } from '../pages/campaigns/campaign-labels.ts';
import { CHART_HEIGHT } from './chart-figure.tsx';

/** What all charts of counts over time have in common. Their points have the time as text in `when`. */
const TIME_CHART = {
  h: CHART_HEIGHT,
  dataKey: 'when',
  tickLine: 'none',
  gridAxis: 'x',
  withLegend: true,
  valueFormatter: number,
  yAxisProps: { width: 44, allowDecimals: false },
} as const;

/** Areas of counts over time. */
export const TIME_AREAS = { ...TIME_CHART, curveType: 'linear', fillOpacity: 0.12 } as const;

/** Stacked bars of counts over time. */
export const TIME_BARS = { ...TIME_CHART, type: 'stacked', maxBarWidth: 28 } as const;
