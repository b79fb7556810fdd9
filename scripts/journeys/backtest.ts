import { setTimeout as sleep } from 'node:timers/promises';
import type { BacktestDetail, Postroom } from '../../sdk/typescript/src/index.ts';
import { FileProblems, readJourney } from './files.ts';

/** Between two looks at a backtest that runs, in milliseconds. */
const POLL_MS = 1_000;

type Figures = Omit<BacktestDetail['candidate'], 'definition'>;

/** A condition that the figures have to meet, such as `messages<=1000` or `goal>=95%`. */
export interface Expectation {
  text: string;
  figure: string;
  op: keyof typeof OPERATORS;
  value: number;
  /** Whether the value is in percent of the same figure of the baseline. */
  ofBaseline: boolean;
}

const OPERATORS = {
  '<=': (a: number, b: number) => a <= b,
  '>=': (a: number, b: number) => a >= b,
  '!=': (a: number, b: number) => a !== b,
  '<': (a: number, b: number) => a < b,
  '>': (a: number, b: number) => a > b,
  '=': (a: number, b: number) => a === b,
};

const FIGURES: Record<string, (figures: Figures) => number> = {
  contacts: ({ contacts }) => contacts,
  runs: ({ runs }) => runs,
  messages: ({ messages }) => messages,
  completed: ({ completed }) => completed,
  goal: ({ reachedGoal }) => reachedGoal,
  in_progress: ({ inProgress }) => inProgress,
};
/** Contacts whose messages differ from the baseline in a way. */
const DIFFERENCES = ['candidate_only', 'baseline_only', 'times', 'messages_differ'];

/** Reads `--expect`. @throws FileProblems that name what is wrong. */
export function readExpectation(text: string): Expectation {
  const match = /^\s*([\w.-]+)\s*(<=|>=|!=|<|>|=)\s*(\d+(?:\.\d+)?)(%?)\s*$/.exec(text);
  const [, figure = '', op = '=', value = '', percent] = match ?? [];
  const isKnown = figure in FIGURES || DIFFERENCES.includes(figure) || /^(reached|sent|waiting)\..+/.test(figure);
  if (match === null || !isKnown)
    throw new FileProblems([
      `--expect "${text}" is not understood. It must be like messages<=1000, with one of ${[...Object.keys(FIGURES), ...DIFFERENCES].join(', ')}, reached.STEP, sent.STEP, waiting.STEP.`,
    ]);
  const ofBaseline = percent === '%';
  if (ofBaseline && DIFFERENCES.includes(figure))
    throw new FileProblems([`--expect "${text}": ${figure} has no baseline that it could be a percentage of.`]);
  return { text, figure, op: op as Expectation['op'], value: Number(value), ofBaseline };
}

/** The expectations that a backtest does not meet, as sentences. */
function failures(backtest: BacktestDetail, expectations: readonly Expectation[]): string[] {
  return expectations.flatMap(({ text, figure, op, value, ofBaseline }) => {
    const { candidate, baseline, differences } = backtest;
    if (baseline === null && (ofBaseline || DIFFERENCES.includes(figure)))
      throw new FileProblems([`--expect "${text}" needs something to compare with: use --against.`]);
    const found = DIFFERENCES.includes(figure)
      ? (differences.find(({ difference }) => difference === figure.replace('_differ', ''))?.contacts ?? 0)
      : figureOf(candidate, figure, text);
    const expected = ofBaseline && baseline !== null ? (figureOf(baseline, figure, text) * value) / 100 : value;
    if (OPERATORS[op](found, expected)) return [];
    return [`expected ${text}${ofBaseline ? ` (${expected})` : ''}, but it is ${found}`];
  });
}

function figureOf(figures: Figures, name: string, text: string): number {
  const own = Object.hasOwn(FIGURES, name) ? FIGURES[name] : undefined;
  if (own !== undefined) return own(figures);
  const [kind = '', ...rest] = name.split('.');
  const id = rest.join('.');
  const step = figures.steps.find(({ stepId }) => stepId === id);
  if (step === undefined) throw new FileProblems([`--expect "${text}": there is no step "${id}".`]);
  if (kind === 'reached') return step.reached;
  if (kind === 'waiting') return step.waiting;
  return step.outcomes.find(({ outcome }) => outcome === 'sent')?.count ?? 0;
}

interface Options {
  days: number;
  /** `published`, `draft`, the number of a version, or another file; undefined compares with nothing. */
  against: string | undefined;
  opened: number | undefined;
  clicked: number | undefined;
  segmentId: string | undefined;
  expectations: readonly Expectation[];
  say: (line: string) => void;
}

/** Runs a file against the past and prints what it would have done. @returns whether all expectations are met. */
export async function backtest(postroom: Postroom, path: string, options: Options): Promise<boolean> {
  const { days, against, opened, clicked, segmentId, expectations, say } = options;
  const { name, definition } = readJourney(path);
  const journeys = await postroom.journeys.list({ limit: 100 }).toArray();
  const journey = journeys.find((each) => each.name === name);
  const baseline = baselineOf(against, name, journey);
  const started = await postroom.backtests.start({
    ...(journey === undefined ? {} : { journey_id: journey.id }),
    days,
    candidate: { definition },
    ...(baseline === undefined ? {} : { baseline }),
    assume: { ...(opened === undefined ? {} : { opened }), ...(clicked === undefined ? {} : { clicked }) },
    ...(segmentId === undefined ? {} : { segment_id: segmentId }),
  } as Parameters<Postroom['backtests']['start']>[0]);
  let found = await postroom.backtests.get(started.id);
  for (; found.status === 'running'; found = await postroom.backtests.get(started.id)) await sleep(POLL_MS);
  if (found.status !== 'completed')
    throw new FileProblems([`The backtest ${found.status === 'failed' ? `failed: ${found.error}` : 'was canceled.'}`]);
  report(found, say);
  const failed = failures(found, expectations);
  for (const each of failed) say(`FAILED: ${each}`);
  if (expectations.length > 0 && failed.length === 0) say(`${expectations.length} expectations are met.`);
  return failed.length === 0;
}

function baselineOf(
  against: string | undefined,
  name: string,
  journey: { publishedVersion: number | null } | undefined,
): { definition?: unknown; version?: number } | undefined {
  if (against === undefined) return undefined;
  if (against.endsWith('.json')) return { definition: readJourney(against).definition };
  if (journey === undefined) throw new FileProblems([`The project has no journey "${name}" to compare with.`]);
  if (against === 'draft') return {};
  if (against === 'published' && journey.publishedVersion === null)
    throw new FileProblems([`The journey "${name}" is not published.`]);
  const version = against === 'published' ? Number(journey.publishedVersion) : Number(against);
  if (!Number.isInteger(version))
    throw new FileProblems([`--against must be published, draft, a version or a file, not "${against}".`]);
  return { version };
}

function report(
  { id, days, total, candidate, baseline, differences, notes }: BacktestDetail,
  say: (line: string) => void,
) {
  say(`${id}: ${days} days, ${total} contacts`);
  for (const [figure, read] of Object.entries(FIGURES))
    say(`  ${figure}: ${read(candidate)}${baseline === null ? '' : `, baseline ${read(baseline)}`}`);
  for (const { stepId, reached, waiting, outcomes } of candidate.steps) {
    const left = outcomes.map(({ outcome, count }) => `${outcome} ${count}`);
    say(`  ${stepId}: reached ${reached}${['', ...left, ...(waiting === 0 ? [] : [`waiting ${waiting}`])].join(', ')}`);
  }
  for (const { difference, contacts } of differences)
    if (difference !== 'none' && contacts > 0) say(`  ${difference}: ${contacts} contacts`);
  for (const note of notes) say(`  note: ${note}`);
}
