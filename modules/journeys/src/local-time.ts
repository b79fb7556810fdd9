import { sql, type Tx } from '@postroom/platform';

/** A time of day on some weekdays in a zone, such as 09:00 on days 1 to 5 in Europe/Berlin. */
export interface LocalTime {
  time: string;
  weekdays: readonly number[];
  zone: string;
}

/**
 * The next instant of each, later than now. PostgreSQL knows the zones: a time that does not exist on a day becomes the one an
 * hour later, and of a time that exists twice it is the second.
 */
const NEXT = `
  SELECT n.place, (SELECT min(at) FROM generate_series(0, 8) AS day(offset_days),
      LATERAL (SELECT (now() AT TIME ZONE n.zone)::date + offset_days AS local_day) AS d,
      LATERAL (SELECT (d.local_day + n.local_time) AT TIME ZONE n.zone AS at) AS a
    WHERE extract(isodow FROM d.local_day)::int = ANY (string_to_array(n.weekdays, ',')::int[]) AND at > now()) AS at
  FROM unnest($1::int[], $2::time[], $3::text[], $4::text[]) AS n(place, local_time, weekdays, zone)`;

/** The next instant of each local time, in the same order. */
export async function nextLocalTimes(tx: Tx, times: readonly LocalTime[]): Promise<Date[]> {
  if (times.length === 0) return [];
  const keys = times.map(({ time, weekdays, zone }) => `${time} ${weekdays.join(',')} ${zone}`);
  const distinct = [...new Map(times.map((each, index) => [keys[index] as string, each])).entries()];
  const rows = await sql<{ place: number; at: Date }>(tx, NEXT, [
    distinct.map((_, index) => index),
    distinct.map(([, { time }]) => time),
    distinct.map(([, { weekdays }]) => weekdays.join(',')),
    distinct.map(([, { zone }]) => zone),
  ]);
  const byKey = new Map(rows.map(({ place, at }) => [distinct[place]?.[0], at]));
  return keys.map((key) => byKey.get(key) as Date);
}
