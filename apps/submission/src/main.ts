import { config, runService } from '@postroom/platform';
import { certificate } from './certificate.ts';
import { startSubmission } from './submission.ts';

await runService('submission', async () =>
  startSubmission({
    host: config.HOST,
    port: config.SUBMISSION_PORT,
    tls: certificate(),
    // In development a key may be shown to the own machine.
    needsTls: config.NODE_ENV === 'production',
  }),
);
