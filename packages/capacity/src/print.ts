import { PROGRAMS } from './operations.ts';
import type { Workload } from './parameters.ts';
import { NAMES, type Prediction } from './predict.ts';

/** A number with two significant digits, and separators between thousands. */
export function round(value: number): string {
  if (!Number.isFinite(value)) return 'unlimited';
  return Number(value.toPrecision(2)).toLocaleString('en', { maximumFractionDigits: 3 });
}

/** 30 MB, 30 GB or 3 TB. */
export function size(gb: number): string {
  if (gb < 1) return `${round(gb * 1000)} MB`;
  return gb < 1000 ? `${round(gb)} GB` : `${round(gb / 1000)} TB`;
}

const percent = (value: number) => `${round(value * 100)} %`;

/** The prediction as lines of text. */
export function printPrediction(workload: Workload, prediction: Prediction): string {
  const { programs, rates, databaseBytes: bytes, delayMs, pricePerMonth: price, bottlenecks } = prediction;
  const peak = rates.peak.email + rates.peak.campaign;
  const [first] = bottlenecks;
  const delay = Number.isFinite(delayMs.meanWait)
    ? `${round(delayMs.service + delayMs.meanWait)} ms on average, ${round(delayMs.service + delayMs.p99Wait)} ms at the 99th percentile, without the relay`
    : 'grows without limit: not all cores are enough';
  const rows: [string, string][] = [
    ['Emails', `${round(workload.emailsPerDay)} a day, ${round(peak)}/s at peak`],
    ['Machines', prediction.isOneMachine ? 'one for everything' : `${prediction.machines} for gateways and workers`],
    ...PROGRAMS.map((name): [string, string] => {
      const { average, peak: most, cores, processes } = programs[name];
      const shape = prediction.isOneMachine ? 'shared cores' : `${cores} cores`;
      const many =
        name === 'gateway' || name === 'worker'
          ? `${processes} ${processes === 1 ? 'process' : 'processes'}, ${shape}`
          : shape;
      return [`  ${NAMES[name]}`, `${many}; uses ${round(average)} on average, ${round(most)} at peak`];
    }),
    ['Data', `${size(bytes.total / 1e9)}: ${parts(bytes)}`],
    ['Disk', `${size(prediction.diskGb)}, ${round(prediction.writesPerSecond.peak)} writes/s at peak`],
    [
      'WAL of PostgreSQL',
      `${round(prediction.walMbPerSecond.average)} MB/s on average, ${round(prediction.walMbPerSecond.peak)} at peak`,
    ],
    [
      'Temporal',
      `${round(prediction.actionsPerSecond.average)} actions/s on average, ${round(prediction.actionsPerSecond.peak)} at peak; ${prediction.shards.toLocaleString('en')} shards`,
    ],
    ['Transactional email', delay],
    ['Price a month', `${round(price.total)}: cores ${round(price.cores)}, disks ${round(price.disk)}`],
    ['First limit', first === undefined ? '-' : `${first.resource}, ${percent(first.utilization)} in use at peak`],
    [
      'Then',
      bottlenecks
        .slice(1, 4)
        .map(({ resource, utilization }) => `${resource} ${percent(utilization)}`)
        .join(', '),
    ],
  ];
  return rows.map(([title, text]) => `${title.padEnd(20)} ${text}`).join('\n');
}

function parts({ messages, events, customEvents, contacts }: Prediction['databaseBytes']): string {
  const named = { messages, 'events and webhooks': events, 'custom events': customEvents, contacts };
  return Object.entries(named)
    .filter(([, bytes]) => bytes > 0)
    .map(([name, bytes]) => `${name} ${size(bytes / 1e9)}`)
    .join(', ');
}
