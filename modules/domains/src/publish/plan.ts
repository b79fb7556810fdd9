import { problems } from '../inspect/problems.ts';
import { spfRecords } from '../inspect/spf.ts';
import type { DnsRecord, RecordState } from '../records.ts';

/** A record that a zone has. */
export interface Existing {
  type: string;
  /** As it is looked up: TXT strings joined, `10 mx.example.com` for MX. */
  value: string;
  /** Whether it carries our mark; only such a record may be replaced. */
  isOurs: boolean;
  /** Whether it is of a kind that can not be changed safely, such as one of several that a routing policy chooses from. */
  isLocked?: boolean;
}

/** One record, and what publishing it would do. */
export interface Step {
  action: 'create' | 'replace' | 'keep' | 'conflict';
  record: DnsRecord;
  /** The records of its kind that are there. */
  existing: string[];
  /** Why, in a sentence. */
  reason: string;
}

/** A zone at a provider, where records can be published. */
export interface PublishingZone {
  apex: string;
  /** The records of all types at a name. */
  read: (name: string) => Promise<Existing[]>;
  /** Makes the steps that create or replace, all or none. What is not ours stays as it is. */
  apply: (steps: readonly Step[]) => Promise<void>;
}

/** Someone who runs zones, and the credentials to change them. */
export interface Publisher {
  name: string;
  /**
   * The zone that holds a domain and that these name servers serve; several may have its name.
   * @throws DomainError `validation_error` when the credentials are refused, `conflict` when there is no such zone.
   */
  open: (domain: string, nameservers: readonly string[]) => Promise<PublishingZone>;
}

/** What publishing records would do in a zone; it changes nothing. */
export async function plan(zone: PublishingZone, records: readonly RecordState[]): Promise<Step[]> {
  const steps: Step[] = [];
  for (const { status, found: _, note: _note, ...record } of records) {
    steps.push(status === 'verified' ? verified(record) : planOne(record, await zone.read(record.name)));
  }
  return steps;
}

const verified = (record: DnsRecord): Step => ({ action: 'keep', record, existing: [], reason: 'It is verified.' });

function planOne(record: DnsRecord, atName: readonly Existing[]): Step {
  const alias = atName.find(({ type }) => type === 'CNAME' || type === 'NS');
  if (alias !== undefined) {
    const reason = `The name has a ${alias.type} record (${alias.value}), and can have no other beside it.`;
    return { action: 'conflict', record, existing: [alias.value], reason };
  }
  const sameType = atName.filter(({ type }) => type === record.type);
  const rivals = sameType.filter(({ value }) => isRival(record, value));
  const existing = rivals.map(({ value }) => value);
  const problem = rivals.length === 0 ? undefined : problems(record)(existing);
  if (rivals.length > 0 && problem === undefined)
    return { action: 'keep', record, existing, reason: 'It is there already.' };
  if (sameType.some(({ isLocked }) => isLocked === true)) {
    return {
      action: 'conflict',
      record,
      existing,
      reason: 'The name has records with a routing policy, which are left alone.',
    };
  }
  if (rivals.some(({ isOurs }) => !isOurs)) {
    return { action: 'conflict', record, existing, reason: `${problem} It is not ours, so it is left as it is.` };
  }
  if (rivals.length > 0)
    return { action: 'replace', record, existing, reason: 'What is there was published by us before.' };
  return { action: 'create', record, existing, reason: 'There is no such record.' };
}

/** Whether a record would stand in the way of ours; texts of other kinds may share a name with it. */
export function isRival({ purpose, type }: DnsRecord, value: string): boolean {
  if (type === 'MX' || purpose === 'dkim') return true;
  return purpose === 'dmarc' ? /^\s*v\s*=\s*DMARC1/i.test(value) : spfRecords([value]).length > 0;
}
