import type { VerificationStatus } from '../../generated/graphql.ts';
import { StatusBadge, type Tone } from '../../components/badge.tsx';

const LABELS: Record<VerificationStatus, [tone: Tone, label: string]> = {
  verified: ['good', 'Verified'],
  pending: ['busy', 'Pending'],
  failing: ['warn', 'Lost'],
  failed: ['bad', 'Not found'],
};

/** The status of one part of a domain, optionally named. */
export function PartStatus({ of, name }: { of: VerificationStatus; name?: string }) {
  const [tone, label] = LABELS[of];
  return <StatusBadge tone={tone}>{name === undefined ? label : `${name}: ${label.toLowerCase()}`}</StatusBadge>;
}

const DOMAIN_LABELS: Record<VerificationStatus, [tone: Tone, label: string]> = {
  verified: ['good', 'Verified'],
  pending: ['busy', 'Pending'],
  failing: ['warn', 'Failing'],
  failed: ['bad', 'Not verified'],
};

/** The overall domain status; blocked takes precedence. */
export function DomainStatus({ of }: { of: { verification: VerificationStatus; blockedAt: string | null } }) {
  if (of.blockedAt !== null) return <StatusBadge tone="bad">Blocked</StatusBadge>;
  const [tone, label] = DOMAIN_LABELS[of.verification];
  return <StatusBadge tone={tone}>{label}</StatusBadge>;
}
