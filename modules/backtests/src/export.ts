import { streamRows } from '@postroom/downloads';
import type { StreamExchange } from '@postroom/platform';
import { type ContactsFilter, getBacktest, marksFor } from './backtests.ts';

const HEADER = [
  'contact_id',
  'email',
  'difference',
  'side',
  'run',
  'entered_at',
  'step_id',
  'arrived_at',
  'left_at',
  'outcome',
  'end_reason',
];

interface Line {
  contactId: string;
  email: string | null;
  difference: string;
  side: string;
  run: number;
  enteredAt: number;
  endReason: string | null;
  stepId: string;
  arrivedAt: number | null;
  leftAt: number | null;
  outcome: string | null;
}

/** A line for each step, in order, then one for the step where a run that has not ended waits. */
const LINES = `
  SELECT b.contact_id AS "contactId", c.email, b.difference::text, side.name AS side, run.number::int AS run,
    (run.value ->> 'enteredAt')::float8 AS "enteredAt", run.value ->> 'endReason' AS "endReason", step.value ->> 'stepId' AS "stepId",
    (step.value ->> 'arrivedAt')::float8 AS "arrivedAt", (step.value ->> 'leftAt')::float8 AS "leftAt", step.value ->> 'outcome' AS outcome
  FROM backtest_contacts b LEFT JOIN contacts c ON c.id = b.contact_id
  CROSS JOIN LATERAL (VALUES ('candidate', b.candidate), ('baseline', b.baseline)) AS side(name, runs)
  CROSS JOIN LATERAL jsonb_array_elements(side.runs) WITH ORDINALITY AS run(value, number)
  CROSS JOIN LATERAL jsonb_array_elements((run.value -> 'steps') || CASE WHEN run.value ->> 'endReason' IS NULL
    THEN jsonb_build_array(jsonb_build_object('stepId', run.value -> 'stepId', 'outcome', 'waiting')) ELSE '[]' END)
    WITH ORDINALITY AS step(value, number)
  WHERE b.backtest_id = $1 AND ($2::text[] = '{}' OR b.marks @> $2) AND ($3::text IS NULL OR b.difference::text = $3)
    AND ($4::text IS NULL OR c.email ILIKE '%' || $4 || '%' OR c.name ILIKE '%' || $4 || '%')
  ORDER BY b.id, side.name DESC, run.number, step.number`;

/** Streams the simulated steps of the contacts that pass a filter as a CSV file. */
export async function streamContacts(exchange: StreamExchange): Promise<undefined> {
  const { projectId, params, options } = exchange;
  const { id = '' } = params;
  const filter = options as ContactsFilter;
  return streamRows<Line>(exchange, {
    name: `${id}.csv`,
    header: HEADER,
    statement: async () => {
      const backtest = await getBacktest(projectId, id);
      const search = filter.search?.replaceAll(/[\\%_]/g, String.raw`\$&`) ?? null;
      return { text: LINES, values: [id, marksFor(backtest, filter), filter.difference ?? null, search] };
    },
    valuesOf: (line) => [
      line.contactId,
      line.email ?? '',
      line.difference,
      line.side,
      String(line.run),
      iso(line.enteredAt),
      line.stepId,
      iso(line.arrivedAt),
      iso(line.leftAt),
      line.outcome ?? '',
      line.endReason ?? '',
    ],
  });
}

const iso = (ms: number | null) => (ms === null ? '' : new Date(ms).toISOString());
