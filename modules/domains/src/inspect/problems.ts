import type { DnsRecord } from '../records.ts';
import { dkimProblem } from './dkim.ts';
import { dmarcProblem } from './dmarc.ts';
import type { ProblemOf } from './assess.ts';
import { mxProblem } from './mx.ts';
import { spfProblem } from './spf.ts';

/** Returns the check for the records found at a published record's name. */
export function problems({ purpose, type, value }: DnsRecord): ProblemOf {
  if (purpose === 'dkim') return (found) => dkimProblem(found, value);
  if (purpose === 'dmarc') return dmarcProblem;
  return type === 'MX' ? (found) => mxProblem(found, value) : (found) => spfProblem(found, value);
}
