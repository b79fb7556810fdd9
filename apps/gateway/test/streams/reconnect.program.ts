import { watchCampaign } from '../../../../modules/campaigns/src/progress.ts';
import { watchDomain } from '../../../../modules/domains/src/subscription.ts';
import { watchImport } from '../../../../modules/imports/src/subscription.ts';
import { streamAttempts } from '../../../../modules/webhooks/src/attempt-stream.ts';
import { watchDeliveries } from '../../../../modules/webhooks/src/subscription.ts';

/** Opens every subscription that waits for notifications, and prints what each yields. */
const [projectId = '', endpointId = '', campaignId = '', domainId = '', importId = ''] = process.argv.slice(2);

async function print<T>(name: string, values: AsyncIterable<T>, seen: (value: T) => unknown): Promise<void> {
  for await (const value of values) console.log(`${name} ${String(seen(value))}`);
}

await Promise.all([
  print('campaign', watchCampaign(projectId, campaignId), ({ name }) => name),
  print('domain', watchDomain(projectId, domainId), ({ checkedAt }) => checkedAt?.toISOString()),
  print('import', watchImport(projectId, importId), ({ rows }) => rows),
  print('attempt', streamAttempts(projectId), ({ deliveryId }) => deliveryId),
  print('delivery', watchDeliveries(projectId), ({ id }) => id),
  print('delivery of endpoint', watchDeliveries(projectId, { endpointId }), ({ id }) => id),
]);
