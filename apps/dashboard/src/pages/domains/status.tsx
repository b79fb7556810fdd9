import type { VerificationStatus } from '../../generated/graphql.ts';
import { StatusBadge, type Tone } from '../../components/badge.tsx';

const WORDS: Record<VerificationStatus, [tone: Tone, word: string]> = {
  verified: ['good', 'Verified'],
  pending: ['busy', 'Pending'],
  failing: ['warn', 'Lost'],
  failed: ['bad', 'Not found'],
};

/** How a part of a domain stands; with its name where it stands beside others. */
export function PartStatus({ of, name }: { of: VerificationStatus; name?: string }) {
  const [tone, word] = WORDS[of];
  return <StatusBadge tone={tone}>{name === undefined ? word : `${name}: ${word.toLowerCase()}`}</StatusBadge>;
}

const DOMAIN_WORDS: Record<VerificationStatus, [tone: Tone, word: string]> = {
  verified: ['good', 'Verified'],
  pending: ['busy', 'Pending'],
  failing: ['warn', 'Failing'],
  failed: ['bad', 'Not verified'],
};

/** How the whole domain stands; one that an operator has blocked is that before anything else. */
export function DomainStatus({ of }: { of: { verification: VerificationStatus; blockedAt: string | null } }) {
  if (of.blockedAt !== null) return <StatusBadge tone="bad">Blocked</StatusBadge>;
  const [tone, word] = DOMAIN_WORDS[of.verification];
  return <StatusBadge tone={tone}>{word}</StatusBadge>;
}
