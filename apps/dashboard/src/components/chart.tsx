import { type KeyboardEvent, type PointerEvent, useCallback, useState } from 'react';
import { number } from '../pages/campaigns/campaign-labels.ts';
import { CHART_HEIGHT } from './chart-figure.tsx';
import { labelInterval, labelWidth, ticksUpTo } from './chart-scale.ts';

interface Series<Name extends string> {
  name: Name;
  label: string;
  /** A color of the theme, such as "pine.6". */
  color: string;
  /** Counted in another series too: its bars stand in front of the others instead of on top of them. */
  isPart?: boolean;
}

/** A value to stay below. */
export interface Limit {
  value: number;
  label: string;
  /** A CSS color. */
  color: string;
}

/** The values of a moment; null and undefined leave a gap, which lines cross. */
type Point<Name extends string> = { when: string } & { readonly [name in Name]?: number | null | undefined };

interface ChartProps<Name extends string> {
  /** Bars are stacked, except parts; areas and lines are not. */
  kind: 'areas' | 'bars' | 'lines';
  points: readonly Point<Name>[];
  series: readonly Series<Name>[];
  limits?: readonly Limit[];
  /** Without the legend, in units of a 16th of the root's font size. */
  height?: number;
  format?: (value: number) => string;
  /** Values are not counts, so the axis may have fractions. */
  fractions?: boolean;
}

/** Free space around the plot, in such units; the axis of values takes what its labels need. */
const MARGIN = { top: 14, right: 8, bottom: 26 };
const BAR = { share: 0.75, widest: 28 };
/** With fewer values than this, a line is hard to see. */
const FEW = 3;
const LIMIT_LABEL_HEIGHT = 15;

const inRem = (units: number) => `${units / 16}rem`;
const themeColor = (color: string) => `var(--mantine-color-${color.replace('.', '-')})`;

/** The pixels of a unit, so that a chart grows with the font that the browser is set to. */
const unitPixels = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** A chart of values over time. The pointer and the arrow keys show the values of a moment. */
export function Chart<Name extends string>(props: ChartProps<Name>) {
  const { kind, points, series, height = CHART_HEIGHT, format = number } = props;
  const [width, setWidth] = useState(0);
  const [shown, setShown] = useState<number>();
  const measured = useCallback((element: HTMLDivElement) => {
    const observer = new ResizeObserver(() => setWidth(element.clientWidth / unitPixels()));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const plot = plotOf(props, width);
  const point = shown === undefined ? undefined : points[shown];

  const follow = (event: PointerEvent<HTMLDivElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
    setShown(plot.indexAt(x / unitPixels()));
  };
  const step = (event: KeyboardEvent) => {
    const last = points.length - 1;
    const next = {
      ArrowRight: Math.min(last, (shown ?? -1) + 1),
      ArrowLeft: Math.max(0, (shown ?? points.length) - 1),
      Home: 0,
      End: last,
      Escape: undefined,
    };
    if (!(event.key in next) || (event.key === 'Escape' && shown === undefined)) return;
    event.preventDefault();
    event.stopPropagation();
    setShown(next[event.key as keyof typeof next]);
  };

  return (
    <div>
      {series.length > 1 && (
        <ul className="plain-list chart-legend">
          {series.map(({ name, label, color }) => (
            <li key={name}>
              <Swatch color={color} /> {label}
            </li>
          ))}
        </ul>
      )}
      <div
        ref={measured}
        className="chart"
        style={{ height: inRem(height) }}
        tabIndex={0}
        role="application"
        aria-roledescription="chart"
        aria-label={`${series.map(({ label }) => label).join(', ')}: arrow keys show values`}
        onPointerMove={follow}
        onPointerDown={follow}
        onPointerLeave={({ pointerType }) => pointerType === 'mouse' && setShown(undefined)}
        onKeyDown={step}
        onBlur={() => setShown(undefined)}
      >
        {width > 0 && (
          <svg width="100%" height="100%" viewBox={`0 0 ${width} ${height}`} aria-hidden>
            <Axes {...props} plot={plot} />
            {shown !== undefined && point !== undefined && (
              <line className="chart-cursor" x1={plot.x(shown)} x2={plot.x(shown)} y1={MARGIN.top} y2={plot.bottom} />
            )}
            {kind === 'bars' ? <Bars {...props} plot={plot} /> : <Lines {...props} plot={plot} />}
            <Limits {...props} plot={plot} />
          </svg>
        )}
        <div role="status">
          {shown !== undefined && point !== undefined && (
            <div className="chart-values" style={plot.nextTo(shown)}>
              <div className="chart-when">{point.when}</div>
              {series.map(({ name, label, color }) => {
                const value = point[name];
                return (
                  <div key={name} className="chart-value">
                    <Swatch color={color} />
                    <span>{label}</span>
                    <span className="tabular">{value == null ? '–' : format(value)}</span>
                  </div>
                );
              })}
            </div>
          )}
        </div>
      </div>
    </div>
  );
}

const Swatch = ({ color }: { color: string }) => (
  <span className="chart-swatch" style={{ background: themeColor(color) }} aria-hidden />
);

type Plot = ReturnType<typeof plotOf>;
type PartProps<Name extends string> = ChartProps<Name> & { plot: Plot };

/** Where values and moments are, in units from the top left corner. */
function plotOf<Name extends string>(
  { kind, points, series, limits = [], height = CHART_HEIGHT, format = number, fractions = false }: ChartProps<Name>,
  width: number,
) {
  const values: number[][] = points.map((point) => series.map(({ name }) => point[name] ?? 0));
  const stacked = (each: readonly number[]) =>
    each.reduce((sum, value, index) => sum + (series[index]?.isPart ? 0 : value), 0);
  const heights = [...values.flat(), ...(kind === 'bars' ? values.map(stacked) : [])];
  // The label of the highest limit is above its line.
  const ticks = ticksUpTo(Math.max(0, ...heights, ...limits.map(({ value }) => value * 1.1)), !fractions);
  const highest = ticks.at(-1) || 1;
  const left = Math.max(...ticks.map((tick) => labelWidth(format(tick)))) + 8;
  const right = Math.max(left + 1, width - MARGIN.right);
  const bottom = height - MARGIN.bottom;
  // Bars stand in the middle of their share of the width; lines reach from edge to edge.
  const isInset = kind === 'bars' || points.length === 1;
  const slot = (right - left) / Math.max(1, isInset ? points.length : points.length - 1);
  const first = left + (isInset ? slot / 2 : 0);
  const x = (index: number) => first + index * slot;
  return {
    ticks,
    left,
    right,
    bottom,
    slot,
    x,
    y: (value: number) => bottom - (value / highest) * (bottom - MARGIN.top),
    indexAt: (at: number) => Math.min(points.length - 1, Math.max(0, Math.round((at - first) / slot))),
    /** Where the values of a moment are shown: next to it, on the side with more room. */
    nextTo: (index: number) =>
      x(index) < width / 2 ? { left: inRem(x(index) + 12) } : { right: inRem(width - x(index) + 12) },
  };
}

function Axes<Name extends string>({ points, format = number, plot }: PartProps<Name>) {
  const { ticks, left, right, bottom, slot, x, y } = plot;
  const labels = points.map(({ when }) => when);
  const every = labelInterval(labels, slot);
  const isLast = (index: number) => index + every >= labels.length;
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line className="chart-grid" x1={left} x2={right} y1={y(tick)} y2={y(tick)} />
          <text x={left - 8} y={y(tick)} dy="0.32em" textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {labels.map((label, index) => {
        if (index % every !== 0) return null;
        const half = labelWidth(label) / 2;
        const isCut = x(index) + half > right + MARGIN.right;
        // The last label moves to the left, where the one before it must not be.
        if (isCut && isLast(index) && labelWidth(label) + half > every * slot) return null;
        const anchor = isCut ? 'end' : x(index) < half ? 'start' : 'middle';
        return (
          // Two moments may have the same label, as in the hour that is repeated when summer time ends.
          <text key={index} x={x(index)} y={bottom + 18} textAnchor={anchor}>
            {label}
          </text>
        );
      })}
    </>
  );
}

function Bars<Name extends string>({ points, series, plot: { slot, x, y } }: PartProps<Name>) {
  const width = Math.min(BAR.widest, Math.max(1, slot * BAR.share));
  return points.map((point, index) => {
    let below = 0;
    return series.map(({ name, color, isPart = false }) => {
      const value = point[name] ?? 0;
      if (value === 0) return null;
      const start = isPart ? 0 : below;
      const [from, to] = [y(start), y(start + value)];
      if (!isPart) below += value;
      return (
        <rect
          key={`${index} ${name}`}
          className="chart-bar"
          x={x(index) - width / 2}
          // A few among many are still seen.
          y={Math.min(to, from - 1)}
          width={width}
          height={Math.max(1, from - to)}
          fill={themeColor(color)}
        />
      );
    });
  });
}

function Lines<Name extends string>({ kind, points, series, plot: { bottom, x, y } }: PartProps<Name>) {
  return series.map(({ name, color }) => {
    const known = points.flatMap((point, index) => {
      const value = point[name];
      return value == null ? [] : [[x(index), y(value)] as const];
    });
    const [first, last] = [known[0], known.at(-1)];
    if (first === undefined || last === undefined) return null;
    const line = known.map(([left, top]) => `${left.toFixed(1)},${top.toFixed(1)}`).join(' ');
    const fill = themeColor(color);
    return (
      <g key={name}>
        {kind === 'areas' && (
          <polygon
            className="chart-area"
            points={`${first[0]},${bottom} ${line} ${last[0]},${bottom}`}
            fill={fill}
            fillOpacity={0.12}
          />
        )}
        <polyline className="chart-line" points={line} stroke={fill} />
        {known.length < FEW && known.map(([left, top]) => <circle key={left} cx={left} cy={top} r={3.5} fill={fill} />)}
      </g>
    );
  });
}

/** The lines to stay below. Labels of lines that are close stand above each other. */
function Limits<Name extends string>({ limits = [], plot: { left, right, y } }: PartProps<Name>) {
  let above = Infinity;
  return limits
    .toSorted((one, other) => one.value - other.value)
    .map(({ value, label, color }) => {
      const top = Math.min(y(value) - 5, above - LIMIT_LABEL_HEIGHT);
      above = top;
      return (
        <g key={label}>
          <line className="chart-limit" x1={left} x2={right} y1={y(value)} y2={y(value)} stroke={color} />
          <text className="chart-limit-label" x={right} y={top} textAnchor="end" style={{ fill: color }}>
            {label}
          </text>
        </g>
      );
    });
}
