import './settings.ts';
import { config, runService } from '@postroom/platform';
import { startInbox } from './inbox.ts';

await runService('inbox', () =>
  startInbox({ host: config.HOST, smtpPort: config.INBOX_SMTP_PORT, webPort: config.INBOX_WEB_PORT }),
);
