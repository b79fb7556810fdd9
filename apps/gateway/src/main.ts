import { config, runService } from '@postroom/platform';
import { startGateway } from './gateway.ts';

await runService('gateway', () => startGateway({ host: config.HOST, port: config.GATEWAY_PORT }));
