import type { WebhookEndpointState } from '../../generated/graphql.ts';
import { countOf } from '../../components/numbers.ts';
import { StatusBadge, type Tone } from '../../components/badge.tsx';
import { percent } from '../campaigns/campaign-labels.ts';

const STATES: Record<WebhookEndpointState, [tone: Tone, label: string]> = {
  idle: ['quiet', 'Enabled'],
  healthy: ['good', 'Healthy'],
  degraded: ['warn', 'Degraded'],
  failing: ['bad', 'Failing'],
};

/** An endpoint's status badge: whether it is enabled, and how well it answers. */
export function EndpointState({ of }: { of: { enabled: boolean; health: { state: WebhookEndpointState } } }) {
  const [tone, label] = of.enabled ? STATES[of.health.state] : (['bad', 'Disabled'] as const);
  return <StatusBadge tone={tone}>{label}</StatusBadge>;
}

/** How many of an endpoint's attempts were acknowledged, in one line. */
export function acknowledgedShare({ acknowledged, failed }: { acknowledged: number; failed: number }): string {
  const attempts = acknowledged + failed;
  if (attempts === 0) return 'No attempts';
  return `${percent(acknowledged, attempts)} of ${countOf(attempts, 'attempt')} acknowledged`;
}
