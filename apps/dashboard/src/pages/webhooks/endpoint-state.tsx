import { State } from '../../components/badge.tsx';

/** Whether events go to an endpoint, and whether it takes them. */
export function EndpointState({ of }: { of: { enabled: boolean; failingSince: string | null } }) {
  if (!of.enabled) return <State tone="bad">Disabled</State>;
  return of.failingSince === null ? <State tone="good">Enabled</State> : <State tone="warn">Failing</State>;
}
