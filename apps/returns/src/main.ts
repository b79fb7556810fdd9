import { config, runService } from '@postroom/platform';
import { startReturns } from './returns.ts';

await runService('returns', () => startReturns({ host: config.HOST, port: config.RETURNS_SMTP_PORT }));
