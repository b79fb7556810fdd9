// Writes the tables of the capacity model into the docs, between their markers; `npm run generate` calls it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  COSTS,
  errorsOf,
  MIXES,
  predict,
  type Prediction,
  readParameters,
  round,
  SETTINGS,
  size,
  WORKLOAD,
} from '@postroom/capacity';

const DOCS = join(import.meta.dirname, '../../docs');

/** Each with as many contacts as emails a day, and a webhook delivery for each email. */
const EMAILS_PER_DAY = [100_000, 1_000_000, 10_000_000, 100_000_000];

/** The pages that contain a table of the model, with that table. */
export const PAGES = [
  { file: join(DOCS, 'how-to/production.md'), title: 'The sizes', table: sizes },
  { file: join(DOCS, 'decisions/capacity-model.md'), title: 'The errors', table: errors },
];

/** The page with what the model predicts now, between its markers. */
export function withTable(page: string, title: string, table: () => string[]): string {
  const [begin, end] = [`<!-- ${title}, by scripts/capacity/page.ts -->`, `<!-- End of ${title.toLowerCase()} -->`];
  const [before = '', rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  return `${before}${begin}\n\n${table().join('\n')}\n\n${end}${after}`;
}

function sizes(): string[] {
  const settings = readParameters(SETTINGS, {});
  const rows = EMAILS_PER_DAY.map((emailsPerDay) => {
    const workload = readParameters(WORKLOAD, { emailsPerDay, contacts: emailsPerDay, webhooksPerEmail: 1 });
    return row(emailsPerDay, predict(workload, settings, COSTS));
  });
  return [
    '| emails a day | at ten times the average rate | gateways and workers | PostgreSQL | Temporal | disk | USD a month | first limit |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ];
}

/** By resource and mix, what was predicted, measured, and the error. */
function errors(): string[] {
  const columns = MIXES.map((mix) => errorsOf(mix, COSTS));
  const rates = MIXES.map(({ rates: { email, campaign } }) => `${round(email + campaign)} emails/s`);
  return [
    `| | ${rates.join(' | ')} |`,
    `| --- |${' --- |'.repeat(rates.length)}`,
    ...Object.keys(columns[0] ?? {}).map((resource) => {
      const cells = columns.map((column) => {
        const { predicted = 0, measured = 0, error = 0 } = column[resource] ?? {};
        return `${round(predicted)}, ${round(measured)}: ${error < 0 ? '-' : '+'}${Math.abs(Math.round(error * 100))} %`;
      });
      return `| ${resource} | ${cells.join(' | ')} |`;
    }),
  ];
}

function row(emailsPerDay: number, prediction: Prediction): string {
  const { programs, isOneMachine, machines, rates, shards, diskGb, pricePerMonth, bottlenecks } = prediction;
  const { coresPerMachine, gbPerCore, oneMachineCores, standbys } = readParameters(SETTINGS, {});
  const machine = (cores: number) => `${cores} cores, ${round(cores * gbPerCore)} GB`;
  const [first] = bottlenecks;
  const cells = [
    emailsPerDay >= 1e6 ? `${emailsPerDay / 1e6} million` : emailsPerDay.toLocaleString('en'),
    `${round(rates.peak.email + rates.peak.campaign)}/s`,
    isOneMachine
      ? `one machine for everything: ${machine(oneMachineCores)}`
      : `${machines} × (${machine(coresPerMachine)})`,
    isOneMachine ? 'the same machine' : `${machine(programs.postgres.cores)}${standbys > 0 ? ', and a standby' : ''}`,
    `${shards.toLocaleString('en')} shards${isOneMachine ? '' : ` on ${programs.temporal.cores} cores`}`,
    size(diskGb),
    round(pricePerMonth.total),
    `${first?.resource ?? '-'}, ${round((first?.utilization ?? 0) * 100)} %`,
  ];
  return `| ${cells.join(' | ')} |`;
}

if (process.argv[1] === import.meta.filename)
  for (const { file, title, table } of PAGES) writeFileSync(file, withTable(readFileSync(file, 'utf8'), title, table));
