import { runService } from '@postroom/platform';
import { startWorker } from './worker.ts';

await runService('worker', startWorker);
