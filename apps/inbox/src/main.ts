import './settings.ts';
import { config, runService } from '@postroom/platform';
import { waitForSchema } from '@postroom/migrations/schema-version';
import { startInbox } from './inbox.ts';

await runService('inbox', async () => {
  await waitForSchema();
  return startInbox({ host: config.HOST, smtpPort: config.INBOX_SMTP_PORT, webPort: config.INBOX_WEB_PORT });
});
