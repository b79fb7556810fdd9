import { StatusBadge } from '../../components/badge.tsx';

/** An endpoint's status badge. */
export function EndpointState({ of }: { of: { enabled: boolean; failingSince: string | null } }) {
  if (!of.enabled) return <StatusBadge tone="bad">Disabled</StatusBadge>;
  return of.failingSince === null ? (
    <StatusBadge tone="good">Enabled</StatusBadge>
  ) : (
    <StatusBadge tone="warn">Failing</StatusBadge>
  );
}
