import { config, logger, readCertificate, runService } from '@postroom/platform';
import { startBounceServer } from './server.ts';

await runService('bounces', () => {
  const tls = readCertificate(config.RETURNS_TLS_CERT, config.RETURNS_TLS_KEY);
  if (tls === undefined) {
    logger.warn('RETURNS_TLS_CERT and RETURNS_TLS_KEY name no certificate: returned mail comes in the clear');
  }
  return startBounceServer({ host: config.HOST, port: config.RETURNS_SMTP_PORT, tls });
});
