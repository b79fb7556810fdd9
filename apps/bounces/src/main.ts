import './settings.ts';
import { config, logger, readCertificate, runService } from '@postroom/platform';
import { waitForSchema } from '@postroom/migrations/schema-version';
import { startBounceServer } from './server.ts';

await runService('bounces', async () => {
  await waitForSchema();
  const tls = readCertificate('BOUNCE');
  if (tls === undefined) {
    logger.warn('no TLS certificate configured: bounces arrive unencrypted; set BOUNCE_TLS_CERT and BOUNCE_TLS_KEY');
  }
  return startBounceServer({ host: config.HOST, port: config.BOUNCE_SMTP_PORT, tls });
});
