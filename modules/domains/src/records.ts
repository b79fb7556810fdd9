import type { Prisma } from '@postroom/platform';

export type Status = Prisma.DomainModel['verification'];

/** The parts of a domain that are verified, each with its own status (spec: Domain). */
export const PARTS = ['dkim', 'mailFrom', 'dmarc'] as const;
export type Part = (typeof PARTS)[number];

/** A DNS record to publish (spec: Domain). */
export interface DnsRecord {
  /** The part of the domain it verifies. */
  purpose: Part;
  type: 'TXT' | 'MX';
  /** Fully qualified name. */
  name: string;
  value: string;
}

/** A record and its status at the last check. */
export interface RecordState extends DnsRecord {
  status: Status;
  /** The records found at the name; empty if there are none. */
  found: string[];
  /** What is wrong or worth knowing, as a sentence. */
  note: string | null;
}

/** The weakest policy that satisfies every receiver's bulk-mail rules without affecting the domain's other mail. */
export const DMARC_VALUE = 'v=DMARC1; p=none;';

interface Publication {
  domain: string;
  mailFromDomain: string;
  selector: string;
  /** SubjectPublicKeyInfo in base64. */
  publicKey: string;
  mx: string;
  spf: string;
}

/** The records to publish for a domain, all `pending`. */
export function recordsToPublish(given: Publication): RecordState[] {
  const records: DnsRecord[] = [
    {
      purpose: 'dkim',
      type: 'TXT',
      name: `${given.selector}._domainkey.${given.domain}`,
      value: `v=DKIM1; k=rsa; p=${given.publicKey}`,
    },
    { purpose: 'mailFrom', type: 'MX', name: given.mailFromDomain, value: `10 ${given.mx}` },
    { purpose: 'mailFrom', type: 'TXT', name: given.mailFromDomain, value: `v=spf1 ${given.spf} ~all` },
    { purpose: 'dmarc', type: 'TXT', name: `_dmarc.${given.domain}`, value: DMARC_VALUE },
  ];
  return records.map((record) => ({ ...record, status: 'pending', found: [], note: null }));
}
