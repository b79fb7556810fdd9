import './settings.ts';
import { runService, useBackgroundTimeouts } from '@postroom/platform';
import { startWorker } from './worker.ts';

useBackgroundTimeouts();
await runService('worker', startWorker);
