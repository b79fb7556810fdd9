import './settings.ts';
import { config, runService } from '@postroom/platform';
import { waitForSchema } from '@postroom/migrations/schema-version';
import { certificate } from './certificate.ts';
import { startSubmission } from './submission.ts';

await runService('submission', async () => {
  await waitForSchema();
  return startSubmission({
    host: config.HOST,
    port: config.SUBMISSION_PORT,
    tls: certificate(),
    // In development, allow authentication without TLS.
    needsTls: config.NODE_ENV === 'production',
  });
});
