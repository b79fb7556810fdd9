import { problems } from '../inspect/problems.ts';
import { spfRecords } from '../inspect/spf.ts';
import type { DnsRecord, RecordState } from '../records.ts';

/** An existing record of a zone. */
export interface Existing {
  type: string;
  /** Its value as looked up: TXT strings joined, `10 mx.example.com` for MX. */
  value: string;
  /** Whether it carries our marker; only such records may be replaced. */
  isOurs: boolean;
  /** Whether it cannot be changed safely, for example because it belongs to a routing policy. */
  isLocked?: boolean;
}

/** A record and the action that publishing takes for it. */
export interface Step {
  action: 'create' | 'replace' | 'keep' | 'conflict';
  record: DnsRecord;
  /** Existing records of its kind. */
  existing: string[];
  /** The reason, as a sentence. */
  reason: string;
}

/** A provider's zone in which records can be published. */
export interface PublishingZone {
  apex: string;
  /** Reads all records at a name. */
  read: (name: string) => Promise<Existing[]>;
  /** Applies the create and replace steps atomically. Records that are not ours stay unchanged. */
  apply: (steps: readonly Step[]) => Promise<void>;
}

/** A DNS provider with the credentials to change its zones. */
export interface Publisher {
  name: string;
  /**
   * Opens the zone of a domain that these name servers serve; several zones may share its name.
   * @throws DomainError `validation_error` if the credentials are rejected, `conflict` if there is no such zone.
   */
  open: (domain: string, nameservers: readonly string[]) => Promise<PublishingZone>;
}

/** Plans the publication of records in a zone without changing anything. */
export async function plan(zone: PublishingZone, records: readonly RecordState[]): Promise<Step[]> {
  const steps: Step[] = [];
  for (const { status, found: _, note: _note, ...record } of records) {
    steps.push(status === 'verified' ? keepVerified(record) : planRecord(record, await zone.read(record.name)));
  }
  return steps;
}

const keepVerified = (record: DnsRecord): Step => ({
  action: 'keep',
  record,
  existing: [],
  reason: 'It is already verified.',
});

function planRecord(record: DnsRecord, atName: readonly Existing[]): Step {
  const alias = atName.find(({ type }) => type === 'CNAME' || type === 'NS');
  if (alias !== undefined) {
    const reason = `The name has a ${alias.type} record (${alias.value}), so it cannot have other records.`;
    return { action: 'conflict', record, existing: [alias.value], reason };
  }
  const sameType = atName.filter(({ type }) => type === record.type);
  const conflicting = sameType.filter(({ value }) => isConflicting(record, value));
  const existing = conflicting.map(({ value }) => value);
  const problem = conflicting.length === 0 ? undefined : problems(record)(existing);
  if (conflicting.length > 0 && problem === undefined)
    return { action: 'keep', record, existing, reason: 'The record already exists.' };
  if (sameType.some(({ isLocked }) => isLocked === true)) {
    return {
      action: 'conflict',
      record,
      existing,
      reason: 'The name has records with a routing policy, which are never changed.',
    };
  }
  if (conflicting.some(({ isOurs }) => !isOurs)) {
    return {
      action: 'conflict',
      record,
      existing,
      reason: `${problem} We did not publish it, so it is left unchanged.`,
    };
  }
  if (conflicting.length > 0)
    return { action: 'replace', record, existing, reason: 'The existing record was published by Postroom.' };
  return { action: 'create', record, existing, reason: 'The record does not exist yet.' };
}

/** Whether a record conflicts with ours; texts of other kinds may share its name. */
export function isConflicting({ purpose, type }: DnsRecord, value: string): boolean {
  if (type === 'MX' || purpose === 'dkim') return true;
  return purpose === 'dmarc' ? /^\s*v\s*=\s*DMARC1/i.test(value) : spfRecords([value]).length > 0;
}
