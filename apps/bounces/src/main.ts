import { config, logger, readCertificate, runService } from '@postroom/platform';
import { startBounceServer } from './server.ts';

await runService('bounces', () => {
  const tls = readCertificate(config.RETURNS_TLS_CERT, config.RETURNS_TLS_KEY);
  if (tls === undefined) {
    logger.warn('no TLS certificate configured: bounces arrive unencrypted; set RETURNS_TLS_CERT and RETURNS_TLS_KEY');
  }
  return startBounceServer({ host: config.HOST, port: config.RETURNS_SMTP_PORT, tls });
});
