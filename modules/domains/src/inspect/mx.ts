/** The problem with the MX records of a MAIL FROM subdomain: all its bounces must go to the expected host. */
export function mxProblem(records: readonly string[], expected: string): string | undefined {
  const wanted = exchangeOf(expected);
  const best = Math.min(...records.map(preferenceOf));
  const ours = records.filter((record) => exchangeOf(record) === wanted);
  if (ours.length === 0) return 'The MX record points to another host.';
  const rivals = records.filter((record) => preferenceOf(record) === best && exchangeOf(record) !== wanted);
  if (rivals.length > 0) return 'Another MX record has priority; bounces would go there.';
  return undefined;
}

const preferenceOf = (record: string) => Number(record.slice(0, record.indexOf(' ')));
const exchangeOf = (record: string) => record.slice(record.indexOf(' ') + 1);
