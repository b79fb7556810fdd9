import './settings.ts';
import { createFirstOwner } from '@postroom/auth';
import { measureQueues } from '@postroom/platform/metrics';
import { loadParts } from '@postroom/registry';
import { config, logger, runService, unreadableSecret } from '@postroom/platform';
import { waitForSchema } from '@postroom/migrations/schema-version';
import { startGateway } from './gateway.ts';

await runService('gateway', async () => {
  await waitForSchema();
  const { POSTROOM_OWNER_EMAIL: email, POSTROOM_OWNER_PASSWORD: password } = config;
  if (email !== undefined && password !== undefined) await createFirstOwner({ email, password, name: 'Owner' });
  measureQueues((await loadParts('metrics')).flatMap(({ queues }) => queues));
  const gateway = await startGateway({ host: config.HOST, port: config.GATEWAY_PORT });
  void lookForUnreadableSecret(); // Runs in the background.
  return gateway;
});

async function lookForUnreadableSecret(): Promise<void> {
  try {
    const unreadable = await unreadableSecret();
    if (unreadable !== undefined) logger.error(`can't read secrets in the database: ${unreadable}`);
  } catch (error) {
    logger.warn({ err: error }, 'could not check whether the secrets in the database can be read');
  }
}
