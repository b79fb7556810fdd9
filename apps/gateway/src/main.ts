import { createFirstOwner } from '@postroom/people';
import { config, logger, runService, unreadableSecret } from '@postroom/platform';
import { startGateway } from './gateway.ts';

await runService('gateway', async () => {
  const { POSTROOM_OWNER_EMAIL: email, POSTROOM_OWNER_PASSWORD: password } = config;
  if (email !== undefined && password !== undefined) await createFirstOwner({ email, password, name: 'Owner' });
  const unreadable = await unreadableSecret();
  if (unreadable !== undefined) logger.error(`secrets in the database can't be read: ${unreadable}`);
  return startGateway({ host: config.HOST, port: config.GATEWAY_PORT });
});
